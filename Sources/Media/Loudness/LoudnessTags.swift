internal import Glibc
package import LibAV

/// Tags from which players compute the level of a file.
package enum LoudnessTags {
    /// The loudness to which ReplayGain 2.0 brings audio, in LUFS, and that of Opus (RFC 7845, 5.2.1).
    private static let (reference, opusReference) = (-18.0, -23.0)

    /// The tags of audio of that loudness in a codec, by libav's name; none where it has no loudness.
    package static func of(_ loudness: Loudness, codec: String) -> [MetadataEntry] {
        guard loudness.isMeasured, loudness.integrated.isFinite else { return [] }
        if BitstreamTraits.of(codec).hasOwnLoudnessTags {
            // In 256ths of a decibel. Decoders apply the gain in its header by themselves, which is 0 here.
            let gain = max(-32_768, min(32_767, ((opusReference - loudness.integrated) * 256).rounded()))
            return [MetadataEntry(key: "R128_TRACK_GAIN", value: "\(Int(gain))")]
        }
        var tags = [
            MetadataEntry(
                key: "REPLAYGAIN_TRACK_GAIN", value: "\(fixed(reference - loudness.integrated, digits: 2)) dB"
            )
        ]
        if loudness.truePeak.isFinite {
            tags.append(
                MetadataEntry(
                    key: "REPLAYGAIN_TRACK_PEAK", value: fixed(pow(10, loudness.truePeak / 20), digits: 6)))
        }
        return tags
    }

    /// A decimal number, whatever the language of the process.
    private static func fixed(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { power, _ in power * 10 }
        let whole = Int((min(1e6, abs(value)) * Double(scale)).rounded())
        let fraction = String(whole % scale)
        return (value < 0 && whole > 0 ? "-" : "") + "\(whole / scale)."
            + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// The tag describes levels: ReplayGain's, those of Opus, iTunes' Sound Check, and what MP3Gain keeps. It is about the source's levels,
    /// and a player would apply it a second time to an output whose levels have been changed already.
    package static func contain(_ key: String) -> Bool {
        let name = key.lowercased()
        // iTunes' comments come with their language in ID3 (`iTunNORM-eng`).
        return name.hasPrefix("replaygain_") || name.hasPrefix("mp3gain_") || name.hasPrefix("itunnorm")
            || name == "r128_track_gain" || name == "r128_album_gain"
    }
}
