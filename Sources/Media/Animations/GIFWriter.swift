internal import LibAV
internal import Publishing

/// Writes an animated GIF with one palette for all still images (libavfilter's `palettegen` and `paletteuse`), which a
/// first pass computes. Each image contains only the differences from the previous one. Confined to one queue.
final class GIFWriter: AnimationWriter {
    private static let tick = AnimationFormat.gif.tick

    private let muxer: Muxer
    private let encoder: FrameEncoder
    private let stream: Int
    private var palette: FilterGraph?
    private var painter: FilterGraph?
    private var analyzed: Int64 = 0
    private let starts: [Int64]
    private var added = 0

    init(
        _ configuration: EncoderConfiguration, _ timing: AnimationTiming, into file: TemporaryFile
    ) throws(AVError) {
        var configuration = configuration
        configuration.timeBase = Self.tick
        configuration.threads = 1
        encoder = try FrameEncoder.open(configuration, globalHeaders: false)
        starts = timing.starts(in: Self.tick)
        let muxer = try Muxer.open(format: "gif", descriptor: file.descriptor)
        stream = try muxer.addStream(encoder.parameters, timeBase: Self.tick)
        let last = timing.lengths.last ?? .zero
        try muxer.writeHeader(options: [
            ("loop", "0"), ("final_delay", "\(min(65_535, max(2, last.ticks(in: Self.tick))))"),
        ])
        self.muxer = muxer
    }

    func analyze(_ frame: consuming Frame) throws {
        do throws(AVError) {
            if palette == nil {
                palette = try FilterGraph.video(
                    [FilterStep("palettegen")], like: frame, timeBase: Self.tick,
                    sampleAspectRatio: Rational(1, 1), frameRate: nil)
            }
            frame.pts = analyzed
            analyzed += 1
            try palette?.send(frame)
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
    }

    func add(_ frame: consuming Frame) throws {
        do throws(AVError) {
            if painter == nil { painter = try makePainter(like: frame) }
            frame.pts = starts[added]
            added += 1
            try painter?.send(frame)
            try paint()
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
    }

    func finish() throws {
        do throws(AVError) {
            try painter?.sendEnd(at: (starts.last ?? 0) + 1)
            try paint()
            try encoder.sendEnd()
            try drain()
            try muxer.finish()
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
    }

    private func makePainter(like frame: borrowing Frame) throws(AVError) -> FilterGraph {
        try palette?.sendEnd(at: analyzed)
        let colours = try Frame()
        guard case .ready? = try palette?.receive(into: colours) else {
            throw AVError(code: -22, operation: "filtering", detail: "the palette is missing")
        }
        palette = nil
        let step = FilterStep("paletteuse", ["diff_mode": "rectangle"])
        let graph = try FilterGraph.video(
            [FilterNode(step, inputs: [.input(0), .input(1)])], like: frame, and: colours, timeBase: Self.tick
        )
        colours.pts = 0
        try graph.send(colours, to: 1)
        try graph.sendEnd(at: 1, to: 1)
        return graph
    }

    /// Encodes the frames that `paletteuse` returns, and writes their packets.
    private func paint() throws(AVError) {
        let frame = try Frame()
        while case .ready? = try painter?.receive(into: frame) {
            let painted = try frame.reference()
            painted.clearPictureType()
            while try !encoder.send(painted) { try drain() }
            try drain()
        }
    }

    private func drain() throws(AVError) {
        let packet = try Packet()
        while case .ready = try encoder.receive(into: packet) {
            packet.streamIndex = stream
            try muxer.write(packet)
        }
    }
}
