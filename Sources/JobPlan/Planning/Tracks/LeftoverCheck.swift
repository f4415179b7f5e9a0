internal import Diagnostics
internal import JobSpec
internal import Media

/// Handles source tracks that no rule selects: they are dropped, listed in the ledger, and reported as `leftover`
/// requires.
enum LeftoverCheck {
    /// Checks the tracks of a source. `chosen` are the indices that rules select. Covers and timecode tracks are
    /// excluded.
    static func decide(
        _ output: OutputSpec, of description: SourceDescription, chosen: [Int]
    ) -> Reasons {
        var reasons = Reasons()
        let taken = Set(chosen)
        let divided = output.division.map { division in
            Set(description.tracks(of: division.mediaType, matching: division.selection).map(\.index))
        }
        for track in description.tracks
        where !taken.contains(track.index) && !track.isAttachedPicture && !track.isTimecode {
            if divided?.contains(track.index) == true {
                reasons.account(for: .track(track), of: track.index, .dropped, "another output contains it")
                continue
            }
            reasons.account(
                for: .track(track), of: track.index, .dropped,
                track.isUnknown
                    ? "its format is unknown; it can only be selected by index" : "no rule selects it")
            report(
                "no rule selects track \(track.index) of the source: \(LedgerText.plainName(track))", output,
                [], &reasons)
        }
        return reasons
    }

    /// Checks the tracks that a composition doesn't use.
    static func decide(_ output: OutputSpec, of tracks: [ComposedSource.UnusedTrack]) -> Reasons {
        var reasons = Reasons()
        for one in tracks {
            reasons.account(for: .named("\(one.owner): \(one.track)"), of: nil, .dropped, one.reason)
            guard one.isUnstated else { continue }
            report(
                "\(one.owner): \(one.track) is not used", output,
                [Diagnostic.Note("the item is here", at: one.location)],
                &reasons)
        }
        return reasons
    }

    private static func report(
        _ message: String, _ output: OutputSpec, _ notes: [Diagnostic.Note], _ reasons: inout Reasons
    ) {
        guard let leftover = output.leftover, leftover.value != .drop else { return }
        if leftover.value == .error {
            reasons.error(.leftoverTrack, message, at: leftover.range, notes: notes)
        } else {
            reasons.diagnostics.warning(.leftoverTrack, message, at: leftover.range, notes: notes)
        }
    }
}
