internal import LibAV

/// A step in the processing of decoded frames, such as trimming or a conversion. Stages are created with their
/// `FrameChain` when the output is opened, and confined to the output's queue.
protocol FrameStage: AnyObject {
    /// Adds a frame with times in `timeBase`. All earlier output must have been pulled.
    func push(_ frame: consuming Frame, in timeBase: Rational) throws
    /// Signals the end of the source's frames. Filters of earlier stages, such as an echo, may push further frames.
    func sourceEnds(at end: MediaTime)
    /// Ends the input. `end`: end of the last frame on the time line of the input; nil if unknown.
    func finish(at end: MediaTime?) throws
    /// Returns the next output frame with its time and duration; nil if more input is required, or after the
    /// last frame.
    func pull() throws -> Frame?
    /// Time base of the last pulled frame.
    var timeBase: Rational { get }
    /// Whether further input has no effect.
    var isSatisfied: Bool { get }
    /// End of the last pulled frame; nil if the stage doesn't determine it.
    var end: MediaTime? { get }
    var droppedSamples: Int { get }
    var formatChange: MediaTime? { get }
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
