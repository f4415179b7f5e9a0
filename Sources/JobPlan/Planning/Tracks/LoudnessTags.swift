internal import LibAV
internal import Media

extension LoudnessTags {
    /// Why they don't go along.
    static let reason = "describes the source's levels, and the output has others"
}

extension TrackPlan.Action {
    /// The levels of the output's audio are not those of its source: by `normalize`, `gain` or `filters`, by a mix of tracks, or of
    /// channels to fewer ones.
    func changesLevels(of source: TrackDescription, mix: AudioMix?) -> Bool {
        guard case .encode(let encoding) = self, source.mediaType == .audio else { return false }
        if encoding.loudness != nil || encoding.audio?.filters != nil { return true }
        if let mix, mix.inputs.count > 1 || mix.inputs.contains(where: { $0.volume != .full }) { return true }
        return encoding.encoder.channelLayout.map { made in
            source.channelLayout.map { made.channels < $0.channels } ?? false
        } ?? false
    }
}

extension TrackPlan {
    /// See `Action.changesLevels`.
    var changesLevels: Bool { action.changesLevels(of: source, mix: mix) }
}
