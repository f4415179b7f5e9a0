internal import Diagnostics
internal import LibAV

/// Checks of `crf` and of `quality` of video.
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
        checkCRF([bounds.lowerBound, bounds.upperBound], of: codec, constant, at: location, into: &sink)
    }

    /// Checks values of `crf`, in thousandths, against the range of a codec's encoder.
    static func checkCRF(
        _ values: [Int], of codec: CodecSelection, _ constant: EncoderModel.ConstantQuality,
        at location: SourceRange, into sink: inout DiagnosticSink
    ) {
        if values.contains(where: { !(constant.minimum * 1000...constant.maximum * 1000).contains($0) }) {
            sink.error(
                .codecSetting,
                "`crf` of \(codec.label) must be from \(constant.minimum) to \(constant.maximum)",
                at: location)
        } else if constant.isWhole, values.contains(where: { $0 % 1000 != 0 }) {
            sink.error(.codecSetting, "`crf` of \(codec.label) must be an integer", at: location)
        }
    }
}
