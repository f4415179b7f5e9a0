internal import JobSpec
internal import LibAV
internal import Media

extension TrackDescription {
    /// Whether the track's format is unknown: it has no codec, or its parameters couldn't be determined. Such
    /// a track is selected only by its index, so that the other tracks of the file remain usable.
    var isUnknown: Bool {
        switch mediaType {
        case .video: codec == "none" || width == 0 || height == 0
        case .audio: codec == "none" || sampleRate == 0 || (channelLayout?.channels ?? 0) == 0
        case .subtitle: codec == "none"
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
        if let requested = criteria.characteristic, requested != Self.characteristic(of: mediaType) {
            return false
        }
        if let requested = criteria.title, requested != title { return false }
        return true
    }

    private static func characteristic(of type: MediaType) -> String? {
        switch type {
        case .video: "visual"
        case .audio: "audible"
        case .subtitle: "legible"
        default: nil
        }
    }

    /// Returns whether two codes mean the same language: containers use `deu` or `ger`, job files also `de`.
    /// A missing code is `und`.
    private static func isSameLanguage(_ have: String?, _ requested: String) -> Bool {
        guard let have else { return requested.lowercased() == "und" }
        return LanguageCode.canonical(have) == LanguageCode.canonical(requested)
    }
}

extension SourceDescription {
    /// Returns the tracks of a type that a selection includes.
    func tracks(of type: MediaType, matching selection: TrackSelection) -> [TrackDescription] {
        let tracks = tracks(of: type)
        switch selection {
        case .first: return tracks.filter { !$0.isUnknown }.prefix(1).map { $0 }
        case .all: return tracks.filter { !$0.isUnknown }
        case .indices(let indices): return tracks.filter { indices.contains($0.index) }
        case .matching(let criteria):
            return tracks.enumerated().filter { position, track in
                let isNumbered = criteria.index != nil || criteria.id != nil
                return (isNumbered || !track.isUnknown) && track.meets(criteria, position: position)
            }.map(\.element)
        }
    }
}
