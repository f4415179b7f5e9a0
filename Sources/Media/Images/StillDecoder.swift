internal import LibAV

/// Decodes files of one frame each. Confined to one queue.
final class StillDecoder {
    private let parameters: CodecParameters
    private let limits: InputLimits
    private let isReduced: Bool
    private var decoder: PacketDecoder?

    /// A decoder of files of a codec; `isReduced`: in the smallest size that it has.
    init(_ parameters: CodecParameters, limits: InputLimits, isReduced: Bool = false) {
        self.parameters = parameters
        self.limits = limits
        self.isReduced = isReduced
    }

    /// What is wrong with a file; nil where it decodes to a frame of the size.
    func problem(in bytes: [UInt8], size: PixelSize) -> String? {
        do throws(AVError) {
            if decoder == nil {
                decoder = try PacketDecoder.open(
                    parameters, timeBase: Rational(1, 25), threads: 1, limits: limits, isReduced: isReduced)
            }
            let packet = try Packet.of(bytes)
            let frame = try Frame()
            guard try decoder?.send(packet) == true else { return "its decoder doesn't take it" }
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
                return "it has not the size \(size)"
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
