internal import Diagnostics
internal import JobSpec
internal import Media

/// Source tracks that no rule selects: they are left, and where the job says so (`leftover`), that is a message.
enum LeftoverCheck {
    /// `chosen` are the tracks that some rule selects. Covers and timecode are no rule's business.
    static func decide(
        _ output: OutputSpec, of description: SourceDescription, chosen: [Int]
    ) -> Reasons {
        var reasons = Reasons()
        let taken = Set(chosen)
        for track in description.tracks
        where !taken.contains(track.index) && !track.isAttachedPicture && !track.isTimecode {
            let name = LedgerText.plainName(track)
            reasons.account(
                for: name, of: track.index, .left,
                track.isUnknown
                    ? "its format is unknown: it is selected by its number alone" : "no rule selects it")
            guard let leftover = output.leftover, leftover.value != .drop else { continue }
            let message = "no rule selects track \(track.index) of the source: \(name)"
            if leftover.value == .error {
                reasons.error(.leftoverTrack, message, at: leftover.range)
            } else {
                reasons.diagnostics.warning(.leftoverTrack, message, at: leftover.range)
            }
        }
        return reasons
    }
}
