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
    /// When the first interlaced frame came of a track whose first frames are progressive, from the start of the range: frames are
    /// deinterlaced from there on.
    var fieldsBegin: MediaTime? { get }
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
    var fieldsBegin: MediaTime? { nil }
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
    /// See `AssetReaderOutput`.
    var countsSamples = false
    /// Of an Ogg file: whether a gap is due to missing pages. Nil in other containers.
    var lostPages: LostPages?
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
    /// See `SampleProducer`.
    var fieldsBegin: MediaTime? { get }
}

extension FrameStream {
    var droppedSamples: Int { 0 }
    var formChange: MediaTime? { nil }
    var fieldsBegin: MediaTime? { nil }
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
