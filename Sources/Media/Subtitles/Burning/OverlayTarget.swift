internal import LibAV

/// The frames into which subtitles are drawn.
struct OverlayTarget {
    let size: PixelSize
    let pixelFormat: PixelFormat
    /// Color properties of the frames.
    let color: ColorDescription
    /// Matrix of the frames if `color` has none.
    private let assumedMatrix: String
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
        (assumedMatrix, setsColor) = ("bt709", true)
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
        assumedMatrix = ColorDescription.defaultMatrix(width: size.width, height: size.height)
        setsColor = false
        self.pixelAspect = pixelAspect.flatMap { $0.isPositive ? $0 : nil } ?? Rational(1, 1)
        self.timeBase = timeBase
        frameRate = nil
    }

    /// The step that converts RGB images to the color properties of the frames.
    var colorConversion: FilterStep {
        FilterStep(
            "scale",
            [
                "flags": "bicubic",
                "out_color_matrix": ColorDescription.scaleName(ofMatrix: color.matrix)
                    ?? ColorDescription.scaleName(ofMatrix: assumedMatrix) ?? "bt709",
                "out_range": (color.range ?? pixelFormat.defaultRange).rawValue,
            ])
    }

    /// Creates a graph that lays an image over frames, with its upper left corner at a position.
    func overlayGraph(
        _ format: OverlayFormat, x: Int, y: Int, like base: borrowing Frame, and image: borrowing Frame
    ) throws(AVError) -> FilterGraph {
        let nodes = [
            FilterNode(
                FilterStep(
                    "overlay", ["x": "\(x)", "y": "\(y)", "eval": "init", "format": format.rawValue]),
                inputs: [.input(0), .input(1)]),
            FilterNode(FilterStep("format", ["pix_fmts": "\(pixelFormat)"]), inputs: [.node(0)]),
        ]
        return try FilterGraph.video(
            nodes, like: base, and: image, timeBase: timeBase, frameRate: frameRate)
    }
}
