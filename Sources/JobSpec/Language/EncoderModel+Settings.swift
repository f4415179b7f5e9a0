internal import LibAV

/// The keys of `encode` whose values depend on the encoder, for the schema and the reference.
extension EncoderModel {
    /// The keys in the order of the reference, each with the type of its values; nil if the encoder has no such setting.
    var settings: [(key: String, type: ValueType?)] {
        func range(_ range: ClosedRange<Int>?) -> ValueType? {
            range.map { .thousandths(Double($0.lowerBound)...Double($0.upperBound)) }
        }
        let targetQuality = rate.constantQuality == nil ? nil : ValueType.mapping(Language.videoQuality)
        return [
            ("preset", tuning.presets.map { .word($0) }),
            ("tune", tuning.tunes.map { .word($0) }),
            ("profile", profileNames.map { .word($0) }),
            ("level", conformance.levels.map { .word($0) }),
            ("crf", range(crfRange)),
            ("qp", rate.qpRange.map { .integer($0) }),
            ("quality", mediaType == .video ? targetQuality : range(rate.qualities)),
            ("bit_depth", samples.bitDepths.map { .word($0.map(String.init)) }),
            ("b_frames", gop.maxBFrames.map { .integer(0...$0) }),
        ]
    }
}
