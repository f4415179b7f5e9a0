internal import Diagnostics
internal import LibAV
package import Media

/// Subtitles that are drawn into the frames of a track.
package struct BurnPlan: Codable, Hashable, Sendable {
    /// The file with the subtitles; nil for the source.
    package var file: SubtitleFilePlan?
    /// Index of the subtitle track in the file or the source.
    package var track: Int
    /// Codec of the subtitle track by libavcodec's name.
    package var codec: String
    package var style: SubtitleStyle

    /// Whether the subtitles are text, which the machine's fonts determine.
    package var isText: Bool { SubtitleCodec.canConvert(from: codec) }

    /// Whether all values are valid. Checked for plans from untrusted input.
    var isValid: Bool {
        (file?.isValid ?? true) && (0..<1 << 16).contains(track) && codec.utf8.count <= 256 && style.isValid
    }
}

extension TrackPlan.Encoding {
    /// The subtitles that are drawn into the frames that the encoder receives; nil for none.
    package var burnedSubtitles: BurnedSubtitles? {
        guard let burn else { return nil }
        var subtitles = BurnedSubtitles(path: burn.file?.path, track: burn.track, style: burn.style)
        subtitles.pixelAspectRatio = encoder.sampleAspectRatio ?? Rational(1, 1)
        return subtitles
    }
}

extension TrackPlan {
    /// The subtitle files that the track is read from, or whose subtitles are drawn into its frames.
    package var addedFiles: [SubtitleFilePlan] { [file, encoding?.burn?.file].compactMap { $0 } }
}

extension SubtitleStyle {
    /// The values that override those of the subtitles, for the user.
    var description: [String] { [font, size.map { "\($0) px" }, color.map { "#\($0)" }].compactMap { $0 } }
}
