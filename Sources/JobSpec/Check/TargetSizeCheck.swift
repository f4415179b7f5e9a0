internal import Diagnostics
internal import LibAV

/// Check of an output with `target_size`: settings that exclude it, and tracks whose size can't be predicted.
struct TargetSizeCheck {
    let output: OutputSpec
    /// Location of the `package` that the output is a rendition of; nil for a file.
    let package: SourceRange?

    func check(into sink: inout DiagnosticSink) {
        var first: Located<Int64>?
        for rule in output.tracks {
            var (action, isCopied) = (rule.action, false)
            if case .copy(_, let otherwise?) = rule.action {
                (action, isCopied) = (otherwise, rule.copyCondition == nil)
            }
            guard case .encodeVideo(let spec) = action, let target = spec.targetSize else { continue }
            if isCopied {
                refuse(
                    target, "`copy: true`, whose packets keep their size", "the rule is here", rule.range,
                    into: &sink)
            }
            if let first {
                sink.error(
                    .conflictingKeys, "an output can have only one video track with `target_size`",
                    at: target.range, notes: [Diagnostic.Note("the other one is here", at: first.range)])
            }
            first = first ?? target
        }
        guard let first else { return }
        if let package {
            refuse(
                first, "`package`, whose renditions consist of segments", "`package` is here", package,
                into: &sink)
        }
        if let limit = output.media.sizeLimit {
            refuse(
                first, "`limit: { size }`, which truncates the output", "`limit` is here", limit.range,
                into: &sink)
        }
        checkAudio(first, into: &sink)
    }

    private func refuse(
        _ target: Located<Int64>, _ other: String, _ note: String, _ location: SourceRange,
        into sink: inout DiagnosticSink
    ) {
        sink.error(
            .conflictingKeys, "`target_size` can't be combined with \(other)", at: target.range,
            notes: [Diagnostic.Note(note, at: location)])
    }

    /// Reports audio encodings whose size can't be predicted.
    private func checkAudio(_ target: Located<Int64>, into sink: inout DiagnosticSink) {
        for rule in output.tracks {
            var action: TrackRule.Action? = rule.action
            if case .copy(_, let otherwise) = rule.action { action = otherwise }
            guard case .encodeAudio(let spec)? = action else { continue }
            let codec = spec.codec.value
            if let quality = spec.quality {
                refuse(
                    target, "`quality` of audio, whose size isn't known in advance", "`quality` is here",
                    quality.range, into: &sink)
            } else if codec.isLossless, codec.estimate.compression < 1 {
                refuse(
                    target, "\(codec.name), whose size isn't known in advance", "`codec` is here",
                    spec.codec.range, into: &sink)
            }
        }
    }
}
