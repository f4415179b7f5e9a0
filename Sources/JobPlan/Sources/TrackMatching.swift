internal import JobSpec
internal import LibAV
internal import Media

extension TrackDescription {
    /// Whether the track's format is unknown: it has no codec, or its parameters couldn't be determined. Such
    /// a track is selected only by its index, so that the other tracks of the file remain usable.
    var isUnknown: Bool {
        switch mediaType {
        case .video: knownCodec == nil || width == 0 || height == 0
        case .audio: knownCodec == nil || sampleRate == 0 || (channelLayout?.channels ?? 0) == 0
        case .subtitle: knownCodec == nil
        default: false
        }
    }

    /// Returns whether the track meets all criteria of a rule, as the `position`th of its type.
    func meets(_ criteria: TrackCriteria, position: Int) -> Bool {
        if let index = criteria.index, index != position { return false }
        if let id = criteria.id, id != self.id { return false }
        if let requested = criteria.language, !Self.isSameLanguage(language, requested) { return false }
        if let requested = criteria.codec, requested != codec { return false }
        if !Set(criteria.disposition).isSubset(of: disposition) { return false }
        if let requested = criteria.characteristic, requested != TrackCriteria.characteristic(of: mediaType) {
            return false
        }
        if let requested = criteria.title, requested != title { return false }
        return true
    }

    /// Returns whether two codes mean the same language: containers use `deu` or `ger`, job files also `de`.
    /// A missing code is `und`.
    private static func isSameLanguage(_ have: String?, _ requested: String) -> Bool {
        guard let have else { return requested.lowercased() == "und" }
        return LanguageCode.canonical(have) == LanguageCode.canonical(requested)
    }
}

extension SourceDescription {
    /// Returns the tracks of a type that a selection includes: those of its first entry that matches any.
    func tracks(of type: MediaType, matching selection: TrackSelection) -> [TrackDescription] {
        select(type, by: selection).tracks
    }

    /// Returns the tracks of a type that a selection includes, with the entry that matches them.
    func select(_ type: MediaType, by selection: TrackSelection) -> SelectedTracks {
        for (index, entry) in selection.entries.enumerated() {
            let found = tracks(of: type, matching: entry.value)
            guard !found.isEmpty else { continue }
            return SelectedTracks(
                tracks: found,
                entry: selection.entries.count == 1
                    ? nil
                    : SelectedTracks.Entry(
                        number: index + 1, count: selection.entries.count, text: entry.value.text))
        }
        return SelectedTracks(tracks: [])
    }

    /// Returns the tracks of a type that an entry of a selection matches.
    func tracks(of type: MediaType, matching entry: TrackSelection.Entry) -> [TrackDescription] {
        let tracks = tracks(of: type)
        switch entry {
        case .first: return tracks.filter { !$0.isUnknown }.prefix(1).map { $0 }
        case .all: return tracks.filter { !$0.isUnknown }
        case .indices(let indices): return tracks.filter { indices.contains($0.index) }
        case .matching(let criteria):
            return tracks.enumerated().filter { position, track in
                (criteria.isNumbered || !track.isUnknown) && track.meets(criteria, position: position)
            }.map(\.element)
        }
    }
}

/// Tracks of a source that a selection includes.
struct SelectedTracks {
    /// An entry of a selection with alternatives.
    struct Entry {
        /// Position in the list, from 1.
        var number: Int
        /// Number of entries in the list.
        var count: Int
        /// The entry as in a job file, without braces.
        var text: String
    }
    var tracks: [TrackDescription]
    /// The entry that matches the tracks; nil for a selection without alternatives, and if no entry matches.
    var entry: Entry?

    /// A note on the entry that matches the tracks, such as "audio track 2 is selected by `language: eng`, entry 2 of 3";
    /// nil if there is no such entry.
    var note: String? {
        guard let entry, let first = tracks.first else { return nil }
        let subject =
            tracks.count == 1
            ? "\(first.mediaType.rawValue) track \(first.index) is"
            : "\(tracks.count) \(first.mediaType.rawValue) tracks are"
        return "\(subject) selected by `\(entry.text)`, entry \(entry.number) of \(entry.count)"
    }
}
