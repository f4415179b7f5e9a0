internal import LibAV
internal import Publishing

/// Writes an animated WebP with libwebp's animation encoder, which holds the whole animation in memory until the end.
/// Confined to one queue.
final class WebPWriter: AnimationWriter {
    private static let tick = AnimationFormat.webp.tick

    private let encoder: FrameEncoder
    private let file: TemporaryFile
    private let starts: [Int64]
    private let end: Int64
    private var added = 0

    init(
        _ configuration: EncoderConfiguration, _ timing: AnimationTiming, into file: TemporaryFile
    ) throws(AVError) {
        var configuration = configuration
        configuration.timeBase = Self.tick
        encoder = try FrameEncoder.open(configuration, globalHeaders: false)
        starts = timing.starts(in: Self.tick)
        end = timing.end.ticks(in: Self.tick)
        self.file = file
    }

    func analyze(_ frame: consuming Frame) {}

    func add(_ frame: consuming Frame) throws {
        frame.pts = starts[added]
        added += 1
        frame.duration = 0
        frame.clearPictureType()
        do throws(AVError) {
            guard try encoder.send(frame) else {
                throw AVError(code: -22, operation: "encoding", detail: "the encoder rejects a further image")
            }
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
    }

    func finish() throws {
        var bytes: [UInt8]
        do throws(AVError) {
            bytes = try assembled()
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
        // libwebp estimates the duration of the last frame. It also merges equal images, so that the last frame may
        // start before the last image.
        guard WebPChunks.setEnd(to: Int(clamping: end), in: &bytes) else {
            throw MediaError.internalError("the encoder produced no animation")
        }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    private func assembled() throws(AVError) -> [UInt8] {
        let packet = try Packet()
        try encoder.sendEnd()
        guard case .ready = try encoder.receive(into: packet) else {
            throw AVError(code: -22, operation: "encoding", detail: "the encoder returned no data")
        }
        return packet.withBytes { Array($0) }
    }
}
