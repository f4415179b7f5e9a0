package import LibAV

/// Pixel formats that libavfilter's `overlay` draws images into; the raw value is that of its option `format`.
package enum OverlayFormat: String, CaseIterable {
    case yuv420
    case yuv420p10
    case yuv422
    case yuv422p10
    case yuv444

    /// Returns the format for frames of a pixel format; nil if `overlay` doesn't support it.
    package init?(_ format: PixelFormat) {
        guard let found = Self.allCases.first(where: { $0.names.contains(format.description) }) else {
            return nil
        }
        self = found
    }

    /// Names of the pixel formats of the frames; the first one is that of limited range.
    private var names: [String] {
        switch self {
        case .yuv420: ["yuv420p", "yuvj420p"]
        case .yuv420p10: ["yuv420p10le"]
        case .yuv422: ["yuv422p", "yuvj422p"]
        case .yuv422p10: ["yuv422p10le"]
        case .yuv444: ["yuv444p", "yuvj444p"]
        }
    }

    /// Pixel format of images that are laid over the frames. With another depth, `overlay` would convert them, without
    /// regard to their range.
    var layerFormat: PixelFormat {
        let name =
            switch self {
            case .yuv420: "yuva420p"
            case .yuv420p10: "yuva420p10le"
            case .yuv422: "yuva422p"
            case .yuv422p10: "yuva422p10le"
            case .yuv444: "yuva444p"
            }
        return PixelFormat(named: name) ?? .yuva444p
    }

    /// Names of the pixel formats of frames, for the user.
    package static let pixelFormats = allCases.map { $0.names[0] }
}
