internal import LibAV

/// Codecs that subtitles can be written in.
public enum SubtitleCodec: String, Codable, Hashable, Sendable, CaseIterable {
    /// 3GPP timed text, as mp4 and mov hold it.
    case movText = "mov_text"
    /// WebVTT.
    case webvtt
    /// SubRip.
    case srt
    /// Advanced SubStation Alpha.
    case ass

    /// The codec and its encoder as libav names them.
    public var libavName: String { self == .srt ? "subrip" : rawValue }

    /// This build has it.
    public var isAvailable: Bool { EncoderInfo(named: libavName) != nil }

    /// Cues follow one another and never overlap.
    var isSequential: Bool { self == .movText }

    /// Subtitles of a libav codec are text and can become another text.
    public static func canConvert(from codec: String) -> Bool { SubtitleConverter.isText(codec: codec) }

    /// What a track is after its cues were turned into this codec.
    public func outputFormat(of track: AssetTrack) throws -> FormatDescription {
        do {
            let converter = try SubtitleConverter.open(
                track.format.parameters, timeBase: track.timeBase, to: libavName)
            return track.format.with(converter.parameters, codec: libavName)
        } catch {
            throw MediaError.reading(track: track.label, at: nil, error)
        }
    }
}
