internal import LibAV

/// The conversion of an input's samples to packets: encodes them, or copies their packets. Confined to the appending
/// queue.
protocol InputStage: AnyObject {
    /// Time base of the packets.
    var timeBase: Rational { get }
    /// Number of frames dropped because others have the same time in units of the time base.
    var droppedFrames: Int { get }
    /// Values that are known when the stage has finished.
    var ending: TrackEnding { get }
    /// Whether samples are encoded long after they are appended.
    var encodesLater: Bool { get }
    /// Throws if a sample isn't valid after earlier samples. Doesn't change any state.
    func check(_ sample: borrowing SampleBuffer, start: MediaTime, end: MediaTime?) throws(MediaError)
    /// Converts a sample to packets. `start` and `end` delimit the part of the source's time line that is written.
    func append(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws
    /// Passes the remaining packets to `sink`.
    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws
}

extension InputStage {
    var encodesLater: Bool { false }
}

/// Values recorded at the end of a track, in the packets' time base.
struct TrackEnding: Sendable {
    /// Delay of the track's start, and the encoder delay in it, for the edit list, which libavformat doesn't write.
    var delay: (delay: Int64, padding: Int64)?
    /// Encoder statistics of the first of two passes.
    var statistics: String?
    /// Number of samples of silence that were inserted.
    var filledSamples = 0
    /// Number of frames whose closed captions were dropped.
    var droppedCaptions = 0
    /// Numbers of chunks, some of which may have existed already.
    var chunks = ChunkCounts()
    /// Whether HEVC packets contained parameter sets that the sample entry lacks.
    var hasOtherParameterSets = false
}
