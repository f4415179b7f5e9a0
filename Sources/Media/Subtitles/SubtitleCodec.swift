internal import LibAV

/// Subtitle codecs that can be written.
public enum SubtitleCodec: String, Codable, Hashable, Sendable, CaseIterable {
    /// 3GPP timed text, for mp4 and mov.
    case movText = "mov_text"
    /// Web Video Text Tracks.
    case webvtt
    /// SubRip.
    case srt
    /// Advanced SubStation Alpha.
    case ass

    /// Name of the codec and of its encoder in libavcodec.
    package var libavName: String { self == .srt ? "subrip" : rawValue }

    /// Whether the encoder is available in this build.
    package var isAvailable: Bool { EncoderInfo(named: libavName) != nil }

    /// Whether the codec can't represent overlapping events.
    var isSequential: Bool { self == .movText }

    /// Returns whether a codec, by libavcodec's name, is a text codec that can be converted to another codec.
    public static func canConvert(from codec: String) -> Bool { SubtitleConverter.isText(codec: codec) }

    /// Returns the format of a track whose events were converted to this codec.
    package func outputFormat(of track: AssetTrack) throws -> FormatDescription {
        do {
            let converter = try SubtitleConverter.open(
                track.format.parameters, timeBase: track.timeBase, to: libavName)
            return track.format.with(converter.parameters, codec: libavName)
        } catch {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }
}
