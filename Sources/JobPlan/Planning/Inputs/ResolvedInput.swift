internal import LibAV
internal import Locking

/// The source of a job with its description: probed, generated, or predicted from the job that creates it.
struct ResolvedInput {
    let source: InputPlan.Source
    var description: SourceDescription
    /// A composition with its source map; nil for any other source.
    var composed: ComposedSource?
    /// The package whose manifest is the source; nil for any other source.
    var package: SegmentedPackage?
    /// Bit rates that were measured for conditions. All copies of the input share them.
    let bitRates = MeasuredValues()
    /// Sizes of tracks that were measured, in bytes. All copies of the input share them.
    let byteCounts = MeasuredValues()

    init(_ source: InputPlan.Source, _ description: SourceDescription, composed: ComposedSource? = nil) {
        (self.source, self.description, self.composed) = (source, description, composed)
    }
}

/// Measured values of a source's tracks. Each is measured once, because all packets of the track are read.
final class MeasuredValues: Sendable {
    private let known = Guarded<[Int: Int64]>([:])

    /// Returns the value of a track by its index, measured if it isn't known.
    func value(
        of track: Int, measure: (Int) throws(SourceProblem) -> Int64
    ) throws(SourceProblem) -> Int64 {
        if let known = self[track] { return known }
        let value = try measure(track)
        self[track] = value
        return value
    }

    /// The value of a track by its index; nil until it is measured.
    subscript(track: Int) -> Int64? {
        get { known.withLock { $0[track] } }
        set { known.withLock { $0[track] = newValue } }
    }
}
