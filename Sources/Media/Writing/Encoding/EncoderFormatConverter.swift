internal import LibAV

/// Converts frames to the size, pixel format and color of an encoder, if theirs differ. Confined to one queue.
struct EncoderFormatConverter: ~Copyable {
    /// Properties of frames that determine the conversion.
    private struct InputFormat: Equatable {
        var size: PixelSize
        var format: PixelFormat
        var color: ColorCode
        var gamut: GamutCode
        var aspect: Rational
    }

    private let configuration: EncoderConfiguration
    private let scaling: VideoScalingMode
    private let size: PixelSize
    private var graph: FilterGraph?
    private var input: InputFormat?
    private var count: Int64 = 0

    init(_ configuration: EncoderConfiguration, scaling: VideoScalingMode = .resizeAspect) {
        self.configuration = configuration
        self.scaling = scaling
        size = PixelSize(width: configuration.width, height: configuration.height)
    }

    /// Prepares the conversion of frames like `frame`. Throws if they can't be converted, and changes nothing then.
    mutating func prepare(for frame: borrowing Frame) throws(AVError) {
        let own = InputFormat(
            size: PixelSize(width: frame.width, height: frame.height), format: frame.pixelFormat,
            color: frame.colorCode, gamut: frame.gamutCode, aspect: frame.sampleAspectRatio)
        guard graph == nil || input != own else { return }
        let example = try frame.reference()
        let matrix = complete(example)
        let chain = FrameFilterChain(
            settings: settings(for: own, example.color, matrix: matrix), size: own.size,
            format: example.pixelFormat,
            isFullRange: example.colorCode.isFullRange ?? own.format.isFullRangeByDefault, matrix: matrix,
            wholeSize: nil, target: configuration.pixelFormat)
        graph = try FilterGraph.video(
            chain.steps, like: example, timeBase: Rational(1, 25), sampleAspectRatio: Rational(0, 1),
            frameRate: nil, scaling: chain.scaling)
        input = own
    }

    /// Returns a frame as the encoder requires it; `prepare` must have been called for it.
    mutating func convert(_ frame: consuming Frame) throws(AVError) -> Frame {
        try prepare(for: frame)
        _ = complete(frame)
        frame.pts = count
        count += 1
        let format = frame.pixelFormat
        try graph?.send(frame)
        let result = try Frame()
        guard case .ready? = try graph?.receive(into: result) else {
            throw AVError(
                code: -22, operation: "filtering", detail: "the filter returned no frame in \(format)")
        }
        return result
    }

    /// Declares the range and matrix of a frame where they are unspecified, and returns the matrix; nil for RGB. A frame
    /// of the encoder's size is assumed to have its matrix, others the one that players assume.
    private func complete(_ frame: borrowing Frame) -> String? {
        frame.forgetRangeByName()
        let format = frame.pixelFormat
        let isSameSize = frame.width == size.width && frame.height == size.height
        let assumed = ColorDescription.defaultMatrix(width: frame.width, height: frame.height)
        let matrix: String? =
            format.isRGB
            ? nil
            : frame.colorCode.matrixName ?? (isSameSize ? configuration.color.matrix : nil) ?? assumed
        frame.fillColor(isFullRange: format.isFullRangeByDefault, matrix: matrix)
        return matrix
    }

    private func settings(
        for own: InputFormat, _ color: ColorDescription, matrix: String?
    ) -> VideoOutputSettings {
        let target = configuration.pixelFormat
        var settings = VideoOutputSettings(pixelFormat: target)
        settings.levels = target.isRGB ? nil : configuration.color.range ?? .limited
        settings.matrix =
            configuration.color.matrix
            ?? ColorDescription.defaultMatrix(width: size.width, height: size.height)
        settings.sourceMatrix = matrix
        if own.size != size {
            let pixel = own.aspect.isPositive ? own.aspect.double : 1
            let encoded = configuration.sampleAspectRatio.flatMap { $0.isPositive ? $0.double : nil } ?? 1
            scaling.apply(
                to: &settings, size: size,
                ratio: Double(own.size.width) * pixel / Double(max(1, own.size.height)) / encoded)
        }
        var changes = configuration.color.changes(from: color)
        if let matrix, !target.isRGB, !ColorDescription.isSameMatrix(matrix, settings.matrix) {
            changes.matrix = settings.matrix
        }
        if changes.conversionFilter != nil {
            settings.color = changes
            settings.mapsTones =
                changes.transfer != nil && color.isHighRange && !configuration.color.isHighRange
        }
        return settings
    }
}

extension MediaError {
    /// Returns the error of a frame that can't be converted to an encoder's size and pixel format.
    static func unsupportedConversion(
        of frame: borrowing Frame, toSize size: PixelSize, _ format: PixelFormat, track: TrackReference,
        _ error: AVError
    ) -> MediaError {
        .unsupportedConversion(
            track: track, from: "a frame of \(frame.width)x\(frame.height) in \(frame.pixelFormat)",
            to: "\(size) in \(format)", error)
    }
}

extension ColorDescription {
    /// Returns the primaries and the transfer function to which frames with another color must be converted; only those
    /// that both declare.
    func changes(from other: ColorDescription) -> ColorDescription {
        var changes = ColorDescription()
        if let primaries, let own = other.primaries, own != primaries { changes.primaries = primaries }
        if let transfer, let own = other.transfer, !Self.isSameTransfer(own, transfer) {
            changes.transfer = transfer
        }
        return changes
    }

    /// Returns whether two names mean the same transfer function. That of BT.709 has several names.
    private static func isSameTransfer(_ one: String, _ other: String) -> Bool {
        let names = ["bt709", "smpte170m", "bt2020-10", "bt2020-12"]
        return one == other || names.contains(one) && names.contains(other)
    }
}
