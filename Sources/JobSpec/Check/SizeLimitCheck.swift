internal import Diagnostics
internal import LibAV
internal import Media

/// The check for settings that require the complete output, which `limit: { size }` truncates.
struct SizeLimitCheck {
    let job: JobSpec
    let output: OutputSpec

    func check(at place: SourceRange, into sink: inout DiagnosticSink) {
        func refuse(_ message: String, _ note: String, _ other: SourceRange) {
            sink.error(
                .conflictingKeys, message, at: place, notes: [Diagnostic.Note(note, at: other)])
        }
        if let cut = job.cut, cut.value == .smart || cut.value == .smartOrExact {
            refuse(
                "a smart cut is compared with its whole range, so it can't stop at a size",
                "`cut` stands here", cut.range)
        }
        if let fragment = output.fragmentInterval {
            refuse(
                "how much the indexes of fragments need isn't known before, so they can't stop at a size",
                "`fragment` stands here", fragment.range)
        }
        for rule in output.tracks {
            if rule.mediaType == .data {
                refuse(
                    "how much of a track of data belongs to what fits can't be told, so it can't stop at a size",
                    "the rule stands here", rule.range)
            }
            var action: TrackRule.Action? = rule.action
            if case .copy(_, let otherwise) = rule.action { action = otherwise }
            guard case .encodeAudio(let spec)? = action else { continue }
            if let normalize = spec.normalize {
                refuse(
                    "audio is brought to a loudness as a whole, so it can't stop at a size",
                    "`normalize` stands here", normalize.range)
            }
            if BitstreamTraits.of(spec.codec.value.libavName).saysLengthAtStart {
                refuse(
                    "\(spec.codec.value.name) says at its start how long it is and what its checksum is, so it can't stop at a size",
                    "`codec` stands here", spec.codec.range)
            }
        }
        if let container = output.container, container.value.hasChapters,
            !container.value.canTakeChaptersLate,
            case .list? = output.chapters?.value, let chapters = output.chapters
        {
            refuse(
                "\(container.value.name) has its chapters at its start, so they can't follow where it stops",
                "`chapters` stand here", chapters.range)
        }
    }
}
