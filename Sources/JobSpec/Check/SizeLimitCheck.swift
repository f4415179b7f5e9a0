internal import Diagnostics
internal import LibAV
internal import Media

/// Check for settings that can't be combined with `limit: { size }`, mostly because they require the complete output.
struct SizeLimitCheck {
    let job: JobSpec
    let output: OutputSpec

    func check(at location: SourceRange, into sink: inout DiagnosticSink) {
        func refuse(_ message: String, _ note: String, _ other: SourceRange) {
            sink.error(
                .conflictingKeys, message, at: location, notes: [Diagnostic.Note(note, at: other)])
        }
        if let cut = job.cut, cut.value == .smart || cut.value == .smartOrExact {
            refuse(
                "`limit: { size }` can't be combined with a smart cut, which is verified over its whole range",
                "`cut` is here", cut.range)
        }
        if let fragment = output.media?.fragmentInterval {
            refuse(
                "`limit: { size }` can't be combined with `fragment`: the size of the fragments' indexes isn't known in advance",
                "`fragment` is here", fragment.range)
        }
        for rule in output.tracks {
            if rule.mediaType == .data {
                refuse(
                    "`limit: { size }` can't be combined with data tracks, which can't be truncated to match the other tracks",
                    "the rule is here", rule.range)
            }
            var action: TrackRule.Action? = rule.action
            if case .copy(_, let otherwise) = rule.action { action = otherwise }
            guard case .encodeAudio(let spec)? = action else { continue }
            if let normalize = spec.normalize {
                refuse(
                    "`limit: { size }` can't be combined with `normalize`, which requires the whole audio",
                    "`normalize` is here", normalize.range)
            }
            if BitstreamTraits.of(spec.codec.value.libavName).storesLengthInHeader {
                refuse(
                    "`limit: { size }` can't be combined with \(spec.codec.value.name), whose header contains its length and checksum",
                    "`codec` is here", spec.codec.range)
            }
        }
        if let container = output.container, container.value.hasChapters,
            !container.value.model.canWriteChaptersLate,
            case .list? = output.media?.chapters?.value, let chapters = output.media?.chapters
        {
            refuse(
                "`limit: { size }` can't be combined with a list of chapters in \(container.value.name), which stores chapters first",
                "`chapters` is here", chapters.range)
        }
    }
}
