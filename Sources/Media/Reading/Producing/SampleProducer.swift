internal import LibAV

/// What comes next of an output's samples.
enum SampleSupply: ~Copyable {
    case sample(SampleBuffer)
    /// Nothing yet: a decoder that others read too is held back by one of them. Who asked is woken.
    case pending
    case ended
}

/// What comes next of a stream of frames.
enum FrameSupply {
    case frame
    /// See `SampleSupply`.
    case pending
    case ended
}

/// Makes one track's samples one after the other; confined to its output's queue.
protocol SampleProducer: AnyObject {
    /// The next sample, where there is one.
    func next() throws -> SampleSupply
    /// Samples that were left out because their times did not increase.
    var droppedSamples: Int { get }
    /// When frames first had another shape than before, or audio another rate or other channels; from the start of the
    /// range. They come in one form all the same.
    var formChange: MediaTime? { get }
}

extension SampleSupply {
    /// The sample, or where there is none, the end.
    init(_ sample: consuming SampleBuffer?) {
        if let sample { self = .sample(sample) } else { self = .ended }
    }
}

extension SampleProducer {
    /// The next sample of a producer that nothing holds back, or nil at the end.
    func nextAtOnce() throws -> SampleBuffer? {
        switch try next() {
        case .sample(let sample): return sample
        case .ended: return nil
        case .pending:
            throw MediaError.misuse("samples were asked for at once of a decoder that others read too")
        }
    }

    var formChange: MediaTime? { nil }
}

/// What a producer is to make: a track, a range of its asset's time line, and how to treat damage.
struct ProducerContext: Sendable {
    let track: AssetTrack
    /// Time zero on the file's own clock.
    let timeZero: MediaTime
    /// Nil: everything.
    let range: TimeRange?
    /// It is made of tracks or ranges that were cut to their edits and ends one by one.
    var isComposed = false
    /// The unit of frames' times, where more than the range decides about it.
    var tick: Rational?
    /// What becomes of damage.
    var damage = DamageTally()
    /// See `AssetReaderTrackOutput`.
    var countsSamples = false
    /// The range goes on to the track's end, wherever that is.
    var isOpen = false

    var start: MediaTime { range?.start ?? .zero }
    var end: MediaTime? { isOpen ? nil : range?.end }

    /// The tick of the asset's time line in which the track's times, time zero and the range's ends are whole.
    var videoTick: Rational {
        tick ?? AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, range: range)
    }
}

/// Frames one after the other: from a decoder, or from a generator.
protocol FrameStream: AnyObject {
    /// Puts the next frame into `frame`, with its pts in `timeBase` on the file's own clock, where there is one.
    func next(into frame: borrowing Frame) throws -> FrameSupply
    var timeBase: Rational { get }
    /// Frames that were left out on the way here because their times did not increase.
    var droppedSamples: Int { get }
    /// See `SampleProducer`.
    var formChange: MediaTime? { get }
}

extension FrameStream {
    var droppedSamples: Int { 0 }
    var formChange: MediaTime? { nil }
}

/// Frames of a decoder.
final class DecodedFrames: FrameStream {
    let timeBase: Rational
    private let packets: PacketSource
    private let decoder: PacketDecoder
    private let name: String
    private var pending: Packet?
    private var isDraining = false
    private var hasDecoded = false
    /// Packets that the decoder took.
    private var sent = 0
    /// When the latest of them are shown, as many as the decoder's threads work on.
    private var recent: [MediaTime?] = []
    /// Audio of which nothing was decoded yet, or that lies well before what is asked for, somewhere in the middle of its source.
    private func isBehindSeek(_ time: MediaTime?) -> Bool {
        guard packets.hasSought, packets.track.mediaType == .audio else { return false }
        let isEarly = time.map { $0 < packets.heardFrom - packets.track.preroll } ?? false
        return !hasDecoded || isEarly
    }
    /// Frames whose packets never say when they are shown follow one another at their own length.
    fileprivate var lacksTimes: Bool
    fileprivate let pictureLength: Int64
    fileprivate var nextTime: Int64?
    /// How far apart packets are decoded, where that is all they say: rates of H.264 may count fields.
    fileprivate var step: Int64?
    private var lastDTS: Int64?

    init(packets: PacketSource, threads: Int, limits: InputLimits) throws {
        self.packets = packets
        timeBase = packets.timeBase
        name = packets.track.label
        let track = packets.track
        lacksTimes = track.mediaType == .video
        pictureLength = max(1, track.nominalFrameRate.map { $0.inverted.rescale(1, to: track.timeBase) } ?? 1)
        do {
            decoder = try PacketDecoder.open(
                packets.track.format.parameters, timeBase: timeBase, threads: threads, limits: limits)
        } catch {
            throw MediaError.reading(track: packets.track.label, at: nil, error)
        }
    }

    /// A decoder that fails on what it was given is given the next; one that fails while it gives the rest has ended, unless its
    /// threads still have others.
    private func receive(into frame: borrowing Frame, at time: MediaTime?) throws -> CodecOutput {
        while true {
            do throws(AVError) {
                let output = try decoder.receive(into: frame)
                if isDraining, output == .ready { drop() }
                return output
            } catch {
                if isBehindSeek(time), !isDraining { return .needsInput }
                try packets.damage.meet(error, of: name, at: failed(at: time))
                guard isDraining else { return .needsInput }
                guard drop() else { return .ended }
            }
        }
    }

    /// No more comes. What the threads still have may be damaged too, which is told at once or later.
    private func drain() throws {
        isDraining = true
        // The first of the latest was told of when the last of them was given.
        if recent.count > decoder.threadDelay { drop() }
        do throws(AVError) {
            try decoder.sendEnd()
        } catch  where decoder.threadDelay > 0 {
            try packets.damage.meet(error, of: name, at: failed(at: nil))
            drop()
        }
    }

    /// What became of the first of the latest packets is told; false where there is none.
    @discardableResult
    private func drop() -> Bool {
        if recent.isEmpty { return false }
        recent.removeFirst()
        return true
    }

    /// When the packet is shown whose failure is told while the one at `time` is given.
    private func failed(at time: MediaTime?) -> MediaTime? {
        decoder.threadDelay > 0 ? recent.first ?? time : time
    }

    private func note(_ time: MediaTime?) {
        let delay = decoder.threadDelay
        guard delay > 0 else { return }
        recent.append(time)
        if recent.count > delay + 1 { recent.removeFirst() }
    }

    private func nextPacket() throws -> Packet? {
        if let packet = pending.take() { return packet }
        return try packets.next()
    }

    /// Nothing more comes. Some forms of a codec are taken without a word and give nothing (FLAC of 32 bits in 5.1).
    private func end() throws -> FrameSupply {
        guard !hasDecoded, sent > 0, !packets.hasSought, packets.damage.count.skipped == 0 else {
            return .ended
        }
        throw MediaError.undecodable(track: name, packets: sent)
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        var time: MediaTime?
        do {
            while true {
                switch try receive(into: frame, at: time) {
                case .ready:
                    hasDecoded = true
                    if frame.pts == noTimestamp { frame.pts = shownTime(of: frame) }
                    if frame.isDamaged {
                        let shown = packets.told(frame.pts)
                        try packets.damage.meet(.damaged(track: name, at: shown), at: shown)
                        continue
                    }
                    return .frame
                case .ended: return try end()
                case .needsInput:
                    if isDraining { return try end() }
                    guard let packet = try nextPacket() else {
                        try drain()
                        continue
                    }
                    if packet.pts != noTimestamp { lacksTimes = false }
                    if lacksTimes, packet.dts != noTimestamp {
                        if let lastDTS, packet.dts > lastDTS { step = packet.dts - lastDTS }
                        lastDTS = packet.dts
                    }
                    if packet.pts != noTimestamp { time = packets.told(packet.pts) }
                    do throws(AVError) {
                        if try decoder.send(packet) {
                            sent += 1
                            note(time)
                        } else {
                            pending = consume packet
                        }
                    } catch {
                        note(time)
                        // Part of a frame, as a parser finds it in the middle of a program stream.
                        if isBehindSeek(time) { continue }
                        try packets.damage.meet(error, of: name, at: failed(at: time))
                    }
                }
            }
        } catch let error as AVError {
            throw MediaError.reading(track: name, at: time, error)
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

extension DecodedFrames {
    /// What the decoder believes, or where no packet ever said a time, the end of the frame before.
    private func shownTime(of frame: borrowing Frame) -> Int64 {
        guard lacksTimes else { return frame.bestEffortPTS }
        let start = nextTime ?? (frame.bestEffortPTS == noTimestamp ? 0 : frame.bestEffortPTS)
        nextTime = start + (step ?? (frame.duration > 0 ? frame.duration : pictureLength))
        return start
    }
}

/// Frames of a test pattern.
final class GeneratedFrames: FrameStream {
    let timeBase: Rational
    private let graph: FilterGraph

    init(pattern: TestPattern, mediaType: MediaType) throws {
        graph = try FilterGraph.generator(
            mediaType == .audio ? pattern.audioSteps : pattern.videoSteps, mediaType: mediaType)
        timeBase = graph.timeBase
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        switch try graph.receive(into: frame) {
        case .ready: .frame
        case .ended, .needsInput: .ended
        }
    }
}
