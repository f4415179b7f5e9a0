internal import LibAV

/// A step in the processing of decoded frames, such as the cut to a range or a conversion. Created with its
/// `FrameChain` when the output is opened, and confined to its queue.
protocol FrameStage: AnyObject {
    /// Adds a frame with times in `timeBase`. All output of earlier frames has been pulled.
    func push(_ frame: consuming Frame, in timeBase: Rational) throws
    /// Reports the end of the source's frames. Earlier stages may still push frames, such as an echo.
    func sourceEnds(at end: MediaTime)
    /// Ends the input. `end`: end of the last frame on the time line of the input; nil if unknown.
    func finish(at end: MediaTime?) throws
    /// Returns the next output frame with its time and duration; nil if more input is required, or after the
    /// last frame.
    func pull() throws -> Frame?
    /// Time base of the frame that was pulled last.
    var timeBase: Rational { get }
    /// Whether further input has no effect.
    var isSatisfied: Bool { get }
    /// End of the last frame that was pulled, if the stage determines it; otherwise nil.
    var end: MediaTime? { get }
    /// See `SampleProducer`.
    var droppedSamples: Int { get }
    /// See `SampleProducer`.
    var formatChange: MediaTime? { get }
    /// See `SampleProducer`.
    var interlacedFrom: MediaTime? { get }
}

extension FrameStage {
    func sourceEnds(at end: MediaTime) {}
    var isSatisfied: Bool { false }
    var end: MediaTime? { nil }
    var droppedSamples: Int { 0 }
    var formatChange: MediaTime? { nil }
    var interlacedFrom: MediaTime? { nil }
}
