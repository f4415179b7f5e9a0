internal import Diagnostics
internal import JobSpec

/// Source tracks that no rule selects are in the ledger; where the job says so (`leftover`), they are more than that.
enum LeftoverCheck {
    /// `chosen` are the tracks that some rule selects.
    static func check(
        _ output: OutputSpec, of description: SourceDescription, chosen: [Int],
        into sink: inout DiagnosticSink
    ) {
        guard let leftover = output.leftover, leftover.value != .drop else { return }
        let taken = Set(chosen)
        // Covers and timecode are no rule's business; the ledger has them.
        for track in description.tracks
        where !taken.contains(track.index) && !track.isAttachedPicture && !track.isTimecode {
            let message = "no rule selects track \(track.index) of the source: \(LedgerBuilder.name(track))"
            if leftover.value == .error {
                sink.error(.leftoverTrack, message, at: leftover.range)
            } else {
                sink.warning(.leftoverTrack, message, at: leftover.range)
            }
        }
    }
}
