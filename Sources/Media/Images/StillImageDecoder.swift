internal import LibAV

/// Verifies image files with one frame each by decoding them. Confined to one queue.
final class StillImageDecoder {
    private let parameters: CodecParameters
    private let limits: InputLimits
    private let isReduced: Bool
    private let isStrict: Bool
    private var decoder: PacketDecoder?
    /// Pixel format of the last file without a problem; `none` before.
    private(set) var pixelFormat = PixelFormat.none

    /// Creates a decoder for a codec. `isReduced`: whether to decode at the codec's lowest resolution. `isStrict`:
    /// whether every error in the data is a problem, also if the decoder conceals it (`AV_EF_EXPLODE`).
    init(
        _ parameters: CodecParameters, limits: InputLimits, isReduced: Bool = false, isStrict: Bool = false
    ) {
        self.parameters = parameters
        self.limits = limits
        self.isReduced = isReduced
        self.isStrict = isStrict
    }

    /// Returns a description of a file's problem; nil if it decodes to a frame of this size.
    func problem(in bytes: [UInt8], size: PixelSize) -> String? {
        do throws(AVError) {
            if decoder == nil {
                decoder = try PacketDecoder.open(
                    parameters, timeBase: Rational(1, 25), threads: 1, limits: limits, isReduced: isReduced,
                    isStrict: isStrict)
            }
            let packet = try Packet.of(bytes)
            let frame = try Frame()
            guard try decoder?.send(packet) == true else { return "its decoder rejects it" }
            var output = try decoder?.receive(into: frame)
            if case .needsInput? = output {
                try decoder?.sendEnd()
                output = try decoder?.receive(into: frame)
                decoder?.reset()
            }
            guard case .ready? = output else { return "it has no frame" }
            if frame.isDamaged { return "it is damaged" }
            let reduction = decoder?.reduction ?? 0
            func side(_ whole: Int) -> Int { (whole + (1 << reduction) - 1) >> reduction }
            guard frame.width == side(size.width), frame.height == side(size.height) else {
                return "its size is not \(size)"
            }
            pixelFormat = frame.pixelFormat
            return nil
        } catch {
            return "\(error)"
        }
    }
}
