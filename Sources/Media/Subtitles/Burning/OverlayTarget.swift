internal import LibAV

/// The frames into which subtitles are drawn.
struct OverlayTarget {
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
}
