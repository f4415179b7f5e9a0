internal import LibAV

/// A step that decoded frames go through before who reads them, such as a cut to a range or a change of form. Put together when the
/// output is opened (`FrameChain`), and confined to its queue.
protocol FrameStage: AnyObject {
    /// Takes a frame whose time and length count in `timeBase`. What came of those before was pulled.
    func push(_ frame: consuming Frame, in timeBase: Rational) throws
    /// What was pushed first of all has ended, and ends there; stages before this one may still give what they hold, such as an
    /// echo.
    func sourceEnds(at end: MediaTime)
    /// No more comes. `end`: when the last one ends, on the time line that its frames have, where that is known.
    func finish(at end: MediaTime?) throws
    /// The next frame that came of those that were pushed, with its time and its length; nil where another must be pushed
    /// first, or none is left.
    func pull() throws -> Frame?
    /// The unit of what was pulled last.
    var timeBase: Rational { get }
    /// Whatever comes is of no use any more.
    var isSatisfied: Bool { get }
    /// When the last of what was pulled ends, where it knows better than who pushes.
    var end: MediaTime? { get }
    /// See `SampleProducer`.
    var droppedSamples: Int { get }
    /// See `SampleProducer`.
    var formChange: MediaTime? { get }
    /// See `SampleProducer`.
    var fieldsBegin: MediaTime? { get }
}

extension FrameStage {
    func sourceEnds(at end: MediaTime) {}
    var isSatisfied: Bool { false }
    var end: MediaTime? { nil }
    var droppedSamples: Int { 0 }
    var formChange: MediaTime? { nil }
    var fieldsBegin: MediaTime? { nil }
}
