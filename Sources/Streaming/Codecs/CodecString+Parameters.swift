package import LibAV

extension CodecString {
    /// Creates the string of a stream, from its configuration record (`avcC`, `hvcC`, `av1C`, AudioSpecificConfig) or its
    /// profile and level. `frameRate` determines the level of VP9 without a declared one. Nil if the codec has no string
    /// for mp4, or if its headers are malformed.
    package init?(_ parameters: CodecParameters, frameRate: Rational? = nil) {
        let extradata = parameters.extradata
        let value: String? =
            switch parameters.traits.manifestString {
            case .avc?: AVCCodecString.value(extradata, tag: parameters.codecTag)
            case .hevc?: HEVCCodecString.value(extradata, tag: parameters.codecTag)
            case .av1?: AV1CodecString.value(extradata, color: parameters.color)
            case .vp9?:
                VP9CodecString.value(
                    profile: parameters.profile ?? 0,
                    level: parameters.level
                        ?? VP9CodecString.level(
                            width: parameters.width, height: parameters.height, frameRate: frameRate),
                    format: parameters.pixelFormat, color: parameters.color)
            case .mpeg4Audio?: AACCodecString.value(extradata, profile: parameters.profile)
            // MPEG-2 audio has at most 24 kHz.
            case .mpegAudio?: parameters.sampleRate > 24_000 ? "mp4a.6B" : "mp4a.69"
            case .fixed(let value)?: value
            case nil: nil
            }
        guard let value else { return nil }
        self.init(formatted: value)
    }
}

/// Returns two hexadecimal digits, in capitals if `isUppercase`.
func hexadecimal(_ byte: UInt8, uppercase: Bool = false) -> String {
    let digits = String(byte, radix: 16, uppercase: uppercase)
    return digits.utf8.count == 1 ? "0" + digits : digits
}

/// Returns two decimal digits.
func twoDigits(_ number: Int) -> String { padded(Int64(max(0, number)), digits: 2) }
