internal import Diagnostics
internal import LibAV

/// Checks of `quality` of video.
extension RateControlCheck {
    /// Checks `quality` against the codec, and its bounds of `crf` against the encoder.
    static func checkQuality(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        guard let quality = spec.quality else { return }
        let codec = spec.codec.value
        guard let constant = codec.rate.constantQuality else {
            sink.error(
                .codecSetting,
                "`quality` is not supported by \(codec.label): the encoder has no constant quality (`crf`)",
                at: quality.range)
            return
        }
        if let passes = spec.passes, passes.value == 2 {
            sink.error(
                .conflictingKeys, "`quality` can't be combined with `passes: 2`; constant quality takes one",
                at: quality.range, notes: [Diagnostic.Note("`passes` is here", at: passes.range)])
        }
        if let maximum = spec.maxBitRate {
            sink.error(
                .conflictingKeys, "`quality` can't be combined with `max_bitrate`, which limits the quality",
                at: quality.range, notes: [Diagnostic.Note("`max_bitrate` is here", at: maximum.range)])
        }
        guard let bounds = quality.value.crf, let location = quality.value.crfRange else { return }
        let (lowest, highest) = (bounds.lowerBound, bounds.upperBound)
        if lowest < constant.minimum * 1000 || highest > constant.maximum * 1000 {
            sink.error(
                .codecSetting,
                "`crf` of \(codec.label) must be from \(constant.minimum) to \(constant.maximum)",
                at: location)
        } else if constant.isWhole, lowest % 1000 != 0 || highest % 1000 != 0 {
            sink.error(.codecSetting, "`crf` of \(codec.label) must be an integer", at: location)
        }
    }
}
