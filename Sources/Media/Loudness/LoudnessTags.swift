internal import Glibc
package import LibAV

/// Loudness tags (ReplayGain, Opus R128), from which players determine the playback volume.
package enum LoudnessTags {
    /// Reference loudness of ReplayGain 2.0, and of Opus (RFC 7845, 5.2.1), in LUFS.
    private static let (reference, opusReference) = (-18.0, -23.0)

    /// Returns the tags for audio with a given loudness; `codec` is libavcodec's name. Empty for silence.
    package static func of(_ loudness: Loudness, codec: String) -> [MetadataEntry] {
        guard loudness.isMeasured, loudness.integrated.isFinite else { return [] }
        if BitstreamTraits.of(codec).hasOwnLoudnessTags {
            // In 1/256 dB. Decoders also apply the gain in the Opus header, which is 0 here.
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

    /// Formats a decimal number independently of the locale.
    private static func fixed(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { power, _ in power * 10 }
        let whole = Int((min(1e6, abs(value)) * Double(scale)).rounded())
        let fraction = String(whole % scale)
        return (value < 0 && whole > 0 ? "-" : "") + "\(whole / scale)."
            + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Returns whether a tag contains a gain or a peak: ReplayGain, Opus' R128 tags, iTunes' Sound Check, or MP3Gain.
    /// Such a tag describes the source; in an output with another loudness, players would apply a wrong gain.
    package static func contain(_ key: String) -> Bool {
        let name = key.lowercased()
        // In ID3, iTunes' comments have a language suffix (`iTunNORM-eng`).
        return name.hasPrefix("replaygain_") || name.hasPrefix("mp3gain_") || name.hasPrefix("itunnorm")
            || name == "r128_track_gain" || name == "r128_album_gain"
    }
}
