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
    let bitRates = MeasuredBitRates()

    init(_ source: InputPlan.Source, _ description: SourceDescription, composed: ComposedSource? = nil) {
        (self.source, self.description, self.composed) = (source, description, composed)
    }
}

/// Measured bit rates of a source's tracks. Each is measured once, because all packets of the track are read.
final class MeasuredBitRates: Sendable {
    private let known = Guarded<[Int: Int64]>([:])

    /// The bit rate of a track by its index, in bits per second; nil until it is measured.
    subscript(track: Int) -> Int64? {
        get { known.withLock { $0[track] } }
        set { known.withLock { $0[track] = newValue } }
    }
}
