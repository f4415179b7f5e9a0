package import LibAV

/// The frames into which subtitles are drawn.
package struct OverlayTarget {
    let size: PixelSize
    let pixelFormat: PixelFormat
    /// Color properties of the frames.
    let color: ColorDescription
    /// Whether the color properties are set on the frames.
    let setsColor: Bool
    /// Pixel aspect ratio.
    let pixelAspect: Rational
    /// Time base of the frames' indices (`FrameOverlay.put`).
    let timeBase: Rational
    /// Frames per second; nil for a variable rate.
    let frameRate: Rational?

    /// Creates the target for the frames of a composition.
    init(_ canvas: Canvas) {
        (size, pixelFormat, color) = (canvas.size, canvas.pixelFormat, canvas.color)
        setsColor = true
        (pixelAspect, timeBase, frameRate) = (
            Rational(1, 1), canvas.frameRate.inverted, canvas.frameRate
        )
    }

    /// Creates the target for frames like the first one of a track.
    init(
        like frame: borrowing Frame, color: ColorDescription, pixelAspect: Rational?, timeBase: Rational
    ) {
        size = PixelSize(width: frame.width, height: frame.height)
        pixelFormat = frame.pixelFormat
        self.color = color
        setsColor = false
        self.pixelAspect = pixelAspect.flatMap { $0.isPositive ? $0 : nil } ?? Rational(1, 1)
        self.timeBase = timeBase
        frameRate = nil
    }

    /// Pixel format of images that are laid over the frames.
    var layerFormat: PixelFormat {
        switch Self.overlayFormat(of: pixelFormat) {
        case "yuv420p10": PixelFormat(named: "yuva420p10le") ?? .yuva420p
        case "yuv422": PixelFormat(named: "yuva422p") ?? .yuva444p
        case "yuv422p10": PixelFormat(named: "yuva422p10le") ?? .yuva444p
        case "yuv444": .yuva444p
        default: .yuva420p
        }
    }

    /// Names of the pixel formats of frames into which images of subtitles are drawn.
    package static let pixelFormats = ["yuv420p", "yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p"]

    /// Returns the option `format` of libavfilter's `overlay`; nil for pixel formats that it doesn't support.
    package static func overlayFormat(of format: PixelFormat) -> String? {
        switch format.description {
        case "yuv420p", "yuvj420p": "yuv420"
        case "yuv420p10le": "yuv420p10"
        case "yuv422p", "yuvj422p": "yuv422"
        case "yuv422p10le": "yuv422p10"
        case "yuv444p", "yuvj444p": "yuv444"
        default: nil
        }
    }
}
