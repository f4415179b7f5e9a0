internal import CFFmpeg

/// The range of a frame's samples (`AVColorRange`).
public enum ColorRange: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
    /// Limited range, 16 to 235 for luma of 8 bits.
    case limited = "tv"
    /// Full range, 0 to 255 for luma of 8 bits.
    case full = "pc"

    /// Creates a range from libavutil's value; nil if it is unspecified.
    init?(_ range: AVColorRange) {
        switch range {
        case AVCOL_RANGE_MPEG: self = .limited
        case AVCOL_RANGE_JPEG: self = .full
        default: return nil
        }
    }

    /// FFmpeg's name: `tv` or `pc`.
    public var description: String { rawValue }

    /// The range as libavutil's value.
    var av: AVColorRange {
        switch self {
        case .limited: AVCOL_RANGE_MPEG
        case .full: AVCOL_RANGE_JPEG
        }
    }

    /// Name of the range in options of the filter `zscale`.
    package var zscaleName: String {
        switch self {
        case .limited: "limited"
        case .full: "full"
        }
    }
}

extension PixelFormat {
    /// The range that players assume if none is declared.
    package var defaultRange: ColorRange { isFullRangeByDefault ? .full : .limited }
}
