internal import LibAV

/// Converts frames to an encoder's pixel format, range and matrix. Confined to one queue.
struct EncoderFormatConverter: ~Copyable {
    private let configuration: EncoderConfiguration
    private var graph: FilterGraph?
    private var inputFormat: (format: PixelFormat, color: ColorCode)?
    private var count: Int64 = 0

    init(_ configuration: EncoderConfiguration) { self.configuration = configuration }

    /// Returns a frame in the encoder's pixel format; the frame must have the encoder's size.
    mutating func convert(_ frame: consuming Frame) throws(AVError) -> Frame {
        let color = frame.colorCode
        let format = frame.pixelFormat
        if graph == nil || inputFormat?.format != format || inputFormat?.color != color {
            var settings = VideoOutputSettings(pixelFormat: configuration.pixelFormat)
            let target = configuration.pixelFormat
            settings.levels = target.isRGB ? nil : configuration.color.range ?? "tv"
            settings.matrix = configuration.color.matrix
            if let matrix = settings.matrix, let own = color.matrixName, !format.isRGB, !target.isRGB,
                !ColorDescription.isSameMatrix(own, matrix)
            {
                settings.color = ColorDescription()
                settings.color?.matrix = matrix
            }
            let chain = FrameFilterChain(
                settings: settings, size: PixelSize(width: frame.width, height: frame.height), format: format,
                isFullRange: color.isFullRange ?? format.isFullRangeByDefault, matrix: color.matrixName,
                wholeSize: nil, target: target)
            graph = try FilterGraph.video(
                chain.steps, like: frame, timeBase: Rational(1, 25), sampleAspectRatio: Rational(0, 1),
                frameRate: nil, scaling: chain.scaling)
            inputFormat = (format, color)
        }
        frame.pts = count
        count += 1
        try graph?.send(frame)
        let result = try Frame()
        guard case .ready? = try graph?.receive(into: result) else {
            throw AVError(
                code: -22, operation: "filtering", detail: "the filter returned no frame in \(format)")
        }
        return result
    }
}
