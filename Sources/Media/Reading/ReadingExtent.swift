/// What of an asset is read, and how damage in it is treated: the same for whoever measures a job's sources and for the
/// session that reads them.
public struct ReadingExtent: Hashable, Sendable {
    /// Ranges of the asset's time line: none for all of it; several are joined end to end, in this order.
    public var ranges: [TimeRange]
    /// What becomes of damaged data.
    public var damagePolicy: DamagePolicy
    /// The last range goes on to the asset's end, wherever that is: its own end is a guess.
    public var isOpen = false

    /// All of the asset by default, and no damage.
    public init(ranges: [TimeRange] = [], damagePolicy: DamagePolicy = .fail) {
        self.ranges = ranges
        self.damagePolicy = damagePolicy
    }

    /// One range at most.
    public init(_ range: TimeRange?) { self.init(ranges: range.map { [$0] } ?? []) }

    /// Where what is vended begins and ends: on the asset's time line, or joined, on that of the whole.
    var vended: TimeRange? {
        guard ranges.count > 1 else { return ranges.first }
        return TimeRange(start: .zero, duration: ranges.reduce(.zero) { $0 + $1.duration })
    }
}
