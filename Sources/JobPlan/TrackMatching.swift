internal import JobSpec
internal import LibAV

extension SourceDescription.Track {
    /// Everything that a rule says holds of the track, the `position`th of its kind.
    func meets(_ criteria: TrackCriteria, position: Int) -> Bool {
        if let index = criteria.index, index != position { return false }
        if let id = criteria.id, id != self.id { return false }
        if let wanted = criteria.language, !Self.isSameLanguage(language, wanted) { return false }
        if let wanted = criteria.codec, wanted != codec { return false }
        if !Set(criteria.disposition).isSubset(of: disposition) { return false }
        if let wanted = criteria.characteristic, wanted != Self.characteristic(of: mediaType) { return false }
        if let wanted = criteria.title, wanted != title { return false }
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

    /// Containers write `deu` or `ger`, people also `de`.
    private static func isSameLanguage(_ have: String?, _ wanted: String) -> Bool {
        guard let have else { return wanted.lowercased() == "und" }
        return LanguageCode.canonical(have) == LanguageCode.canonical(wanted)
    }
}

extension SourceDescription {
    /// The tracks of a kind that a selection takes.
    func tracks(of type: MediaType, matching selection: TrackSelection) -> [Track] {
        let tracks = tracks(of: type)
        switch selection {
        case .first: return tracks.prefix(1).map { $0 }
        case .all: return tracks
        case .matching(let criteria):
            return tracks.enumerated().filter { position, track in
                track.meets(criteria, position: position)
            }.map(\.element)
        }
    }
}
