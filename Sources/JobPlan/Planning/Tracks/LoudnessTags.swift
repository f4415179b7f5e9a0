internal import LibAV
internal import Media

extension LoudnessTags {
    /// The reason why loudness tags are dropped.
    static let reason = "describes the source's levels, which the output doesn't have"
}

extension TrackPlan.Action {
    /// Returns whether the audio levels of the output differ from those of its source: through `normalize`,
    /// `gain`, `filters`, a mix of tracks, or a downmix.
    func changesLevels(of source: TrackDescription, mix: AudioMix?) -> Bool {
        guard case .encode(let encoding) = self, source.mediaType == .audio else { return false }
        if encoding.loudness != nil || encoding.sharedGain != nil || encoding.audio?.filters != nil {
            return true
        }
        if let mix, mix.inputs.count > 1 || mix.inputs.contains(where: { $0.volume != .full }) { return true }
        return encoding.encoder.channelLayout.map { layout in
            source.channelLayout.map { layout.channels < $0.channels } ?? false
        } ?? false
    }
}

extension TrackPlan {
    /// Whether the track's audio levels differ from the source; see `Action.changesLevels`.
    var changesLevels: Bool { action.changesLevels(of: source, mix: mix) }
}
