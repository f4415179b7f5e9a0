internal import Diagnostics
internal import LibAV

/// Check of an output whose video has `target_size` or `quality`: settings that exclude them, and tracks whose size can't be
/// predicted.
struct EncodingTargetCheck {
    let output: OutputSpec
    /// Location of the `package` that the output is a rendition of; nil for a file.
    let package: SourceRange?
    /// Location of the `composition` that the output is created from; nil for other sources.
    let composition: SourceRange?

    /// A requirement for the finished file, for which its video is encoded again.
    private struct Target {
        enum Key: String {
            case size = "target_size"
            case quality
        }
        let key: Key
        let range: SourceRange
    }

    func check(into sink: inout DiagnosticSink) {
        var first: Target?
        for rule in output.tracks {
            var (action, isCopied) = (rule.action, false)
            if case .copy(_, let otherwise?) = rule.action {
                (action, isCopied) = (otherwise, rule.copyCondition == nil)
            }
            guard case .encodeVideo(let spec) = action, let target = Self.target(of: spec) else { continue }
            if isCopied {
                let kept = target.key == .size ? "size" : "quality"
                refuse(
                    target, "`copy: true`, whose packets keep their \(kept)", "the rule is here", rule.range,
                    into: &sink)
            }
            checkOutput(target, into: &sink)
            // The planner checks rules whose conditions hold.
            guard rule.isUnconditional else { continue }
            if let first {
                let names =
                    first.key == target.key ? "`\(target.key.rawValue)`" : "`target_size` or `quality`"
                sink.error(
                    .conflictingKeys, "an output can have only one video track with \(names)",
                    at: target.range, notes: [Diagnostic.Note("the other one is here", at: first.range)])
            }
            first = first ?? target
        }
    }

    private static func target(of spec: VideoEncodeSpec) -> Target? {
        spec.targetSize.map { Target(key: .size, range: $0.range) }
            ?? spec.quality.map { Target(key: .quality, range: $0.range) }
    }

    /// Checks the settings of the output that exclude a target.
    private func checkOutput(_ target: Target, into sink: inout DiagnosticSink) {
        if let package {
            refuse(
                target, "`package`, whose renditions consist of segments", "`package` is here", package,
                into: &sink)
        }
        if let limit = output.media?.sizeLimit {
            refuse(
                target, "`limit: { size }`, which truncates the output", "`limit` is here", limit.range,
                into: &sink)
        }
        switch target.key {
        case .size: checkAudio(target, into: &sink)
        case .quality:
            guard let composition else { return }
            refuse(
                target, "`composition`, whose frames are not compared", "`composition` is here", composition,
                into: &sink)
        }
    }

    /// Reports audio encodings whose size can't be predicted.
    private func checkAudio(_ target: Target, into sink: inout DiagnosticSink) {
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

    private func refuse(
        _ target: Target, _ other: String, _ note: String, _ location: SourceRange,
        into sink: inout DiagnosticSink
    ) {
        sink.error(
            .conflictingKeys, "`\(target.key.rawValue)` can't be combined with \(other)", at: target.range,
            notes: [Diagnostic.Note(note, at: location)])
    }
}
