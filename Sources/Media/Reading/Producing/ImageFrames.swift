internal import LibAV

/// The frames of an image sequence, read file by file and decoded by one decoder. Confined to one queue.
final class ImageFrames: FrameStream {
    private let files: ImageFiles
    /// Whether one image file supplies all frames.
    private let isStill: Bool
    private let count: Int64
    private let environment: SourceEnvironment
    private let interrupt: InterruptFlag
    private let damage: DamageTally
    private let reference: TrackReference
    private let decoder: PacketDecoder
    /// Index of the next file to decode.
    private var next: Int
    /// Index of the next frame of a still image.
    private var shown: Int64
    private var isDraining = false
    /// The decoded still image.
    private var held: Frame?
    private let movement: MovementCounter

    let timeBase: Rational

    /// Creates a reader; `frame` is the index of the first frame to return.
    init(
        _ sequence: ImageSequence, track: AssetTrack, from frame: Int64, threads: Int,
        environment: SourceEnvironment, interrupt: InterruptFlag, movement: MovementCounter,
        damage: DamageTally
    ) throws {
        (files, isStill, count) = (sequence.files, sequence.numbers == nil, sequence.frameCount)
        self.environment = environment
        self.interrupt = interrupt
        self.movement = movement
        self.damage = damage
        reference = track.reference
        timeBase = sequence.frameRate.inverted
        shown = max(0, frame)
        next = isStill ? 0 : Int(clamping: shown)
        do {
            decoder = try PacketDecoder.open(
                track.format.parameters, timeBase: timeBase, threads: sequence.numbers == nil ? 1 : threads,
                limits: environment.limits)
        } catch {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        isStill ? try repeatedFrame(into: frame) : try decode(into: frame)
    }

    private func repeatedFrame(into frame: borrowing Frame) throws -> FrameSupply {
        guard shown < count else { return .ended }
        if held == nil {
            let first = try Frame()
            guard case .frame = try decode(into: first) else {
                throw MediaError.noSamples(track: reference)
            }
            held = consume first
        }
        guard let image = held.take() else { return .ended }
        try mappingErrors { () throws(AVError) in try frame.assign(image) }
        held = consume image
        (frame.pts, frame.duration) = (shown, 1)
        shown += 1
        return .frame
    }

    private func decode(into frame: borrowing Frame) throws -> FrameSupply {
        while true {
            var output = CodecOutput.needsInput
            do throws(AVError) {
                output = try decoder.receive(into: frame)
            } catch {
                try damage.handle(
                    error, of: reference, at: MediaTime(ticks: Int64(max(0, next - 1)), timeBase: timeBase))
            }
            if case .ready = output {
                frame.duration = 1
                guard frame.isDamaged else { return .frame }
                let time = MediaTime(ticks: frame.pts, timeBase: timeBase)
                try damage.handle(MediaError.damaged(track: reference, at: time), at: time)
                continue
            }
            if case .ended = output { return .ended }
            if isDraining { return .ended }
            try sendNext()
        }
    }

    /// Sends the next file to the decoder, or the end of the stream.
    private func sendNext() throws {
        guard files.indices.contains(next) else {
            isDraining = true
            return try mappingErrors { () throws(AVError) in try decoder.sendEnd() }
        }
        let (number, path) = (Int64(next), files[next])
        next += 1
        let packet = try read(path, at: number)
        (packet.pts, packet.dts, packet.duration) = (number, number, 1)
        packet.markKey()
        movement.count()
        do throws(AVError) {
            // A decoder without pending output accepts a packet.
            guard try decoder.send(packet) else { throw AVError(code: -11, operation: "decoding \(path)") }
        } catch {
            try damage.handle(error, of: reference, at: MediaTime(ticks: number, timeBase: timeBase))
        }
    }

    /// Reads a file as one packet.
    private func read(_ path: String, at number: Int64) throws -> Packet {
        func failure(_ detail: String) -> MediaError {
            MediaError.reading(
                track: reference, at: MediaTime(ticks: number, timeBase: timeBase),
                AVError(code: -5, operation: "reading \(path)", detail: detail))
        }
        do throws(InputError) {
            let source = try environment.file(path, interrupt: interrupt)
            guard source.size <= Self.maxBytes else { throw InputError(path: path, reason: .unrecognized) }
            do throws(AVError) {
                return try Packet.of(source)
            } catch {
                throw InputError(path: path, reason: .library(error))
            }
        } catch {
            throw failure(error.explanation)
        }
    }

    private static let maxBytes: Int64 = 1 << 30

    private func mappingErrors(_ body: () throws(AVError) -> Void) throws {
        do throws(AVError) {
            try body()
        } catch {
            throw MediaError.reading(track: reference, at: nil, error)
        }
    }
}
