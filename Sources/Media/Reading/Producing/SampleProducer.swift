internal import LibAV

/// Result of a request for an output's next sample.
enum SampleSupply: ~Copyable {
    case sample(SampleBuffer)
    /// No sample is available yet: another reader of a shared decoder must first read a frame, or the playback rate
    /// delays the sample. The caller is notified later.
    case pending
    case ended
}

/// Result of a request for a stream's next frame.
enum FrameSupply {
    case frame
    /// See `SampleSupply.pending`.
    case pending
    case ended
}

/// Produces the samples of one output in order; confined to the output's queue.
protocol SampleProducer: AnyObject {
    func next() throws -> SampleSupply
    /// Number of samples dropped because their times didn't increase.
    var droppedSamples: Int { get }
    /// Time at which the shape of frames, or the sample rate or channel layout of audio, first changed, from
    /// the start of the range; nil if it didn't. Vended samples keep one format.
    var formatChange: MediaTime? { get }
    /// Time of the first interlaced frame in a track whose first frames are progressive, from the start of
    /// the range; frames are deinterlaced from there on. Nil if there is none.
    var interlacedFrom: MediaTime? { get }
}

extension SampleSupply {
    /// Wraps a sample; nil marks the end of the samples.
    init(_ sample: consuming SampleBuffer?) {
        if let sample { self = .sample(sample) } else { self = .ended }
    }
}

extension SampleProducer {
    /// Returns the next sample of a producer that never returns `pending`; nil at the end.
    func nextAtOnce() throws -> SampleBuffer? {
        switch try next() {
        case .sample(let sample): return sample
        case .ended: return nil
        case .pending:
            throw MediaError.internalError("a shared decoder can't return samples synchronously")
        }
    }

    var formatChange: MediaTime? { nil }
    var interlacedFrom: MediaTime? { nil }
}

/// Input of a producer: a track, a range of the asset's time line, and damage handling.
struct ProducerContext: Sendable {
    let track: AssetTrack
    /// Position of the asset's time zero on the file's time line.
    let timeZero: MediaTime
    /// Range to read; nil for the whole track.
    let range: TimeRange?
    /// Whether the input is a mix or a concatenation. Its parts are already trimmed to their edit lists, and the
    /// track's end doesn't apply.
    var isComposed = false
    /// Time base of frame times; nil derives it from track and range (`videoTick`).
    var tick: Rational?
    /// Damage of the track, and the damage policy.
    var damage = DamageTally()
    /// See `AssetReaderOutput.countsSamples`.
    var countsSamples = false
    /// See `AssetReaderOutput.keepsEventTimes`.
    var keepsEventTimes = false
    /// Detection of missing pages in an Ogg file, to explain gaps; nil for other containers.
    var lostPages: LostPages?
    /// End of the asset: a range that begins at or after it contains no frame. Nil unless exactly one range is read; a
    /// range past the end then contains the last frame.
    var assetEnd: MediaTime?
    /// Whether the range continues to the track's end.
    var isOpen = false

    var start: MediaTime { range?.start ?? .zero }
    var end: MediaTime? { isOpen ? nil : range?.end }

    /// Time base in which the track's times, time zero and the range's boundaries are integers.
    var videoTick: Rational {
        tick ?? AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, range: range)
    }
}

/// A stream of frames from a decoder or a generator.
protocol FrameStream: AnyObject {
    /// Reads the next frame into `frame`, with a pts in `timeBase` on the file's time line.
    func next(into frame: borrowing Frame) throws -> FrameSupply
    var timeBase: Rational { get }
    /// Number of frames dropped upstream because their times didn't increase.
    var droppedSamples: Int { get }
    var formatChange: MediaTime? { get }
    var interlacedFrom: MediaTime? { get }
}

extension FrameStream {
    var droppedSamples: Int { 0 }
    var formatChange: MediaTime? { nil }
    var interlacedFrom: MediaTime? { nil }
}

/// Frames or audio of a test pattern; endless if `end` is nil.
final class GeneratedFrames: FrameStream {
    let timeBase: Rational
    private let graph: FilterGraph

    private let end: Int64?

    init(pattern: TestPattern, mediaType: MediaType, end: MediaTime? = nil) throws {
        graph = try FilterGraph.generator(
            mediaType == .audio ? pattern.audioSteps : pattern.videoSteps, mediaType: mediaType)
        timeBase = graph.timeBase
        self.end = end?.ticks(in: timeBase, rounding: .up)
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        switch try graph.receive(into: frame) {
        case .ready: end.map { frame.pts >= $0 } == true ? .ended : .frame
        case .ended, .needsInput: .ended
        }
    }
}
