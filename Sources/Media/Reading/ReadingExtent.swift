/// Ranges of an asset to read, and the damage policy. Measurements of a job's sources use the same value as the session
/// that reads the sources.
public struct ReadingExtent: Hashable, Sendable {
    /// Ranges of the asset's time line: empty for the whole asset; several are joined in this order.
    public var ranges: [TimeRange]
    /// Handling of damaged data.
    public var damagePolicy: DamagePolicy
    /// Whether the last range continues to the asset's end, because its declared end is an estimate. Default: false.
    public var isOpen = false

    /// Creates an extent. Default: the whole asset, and damage is an error.
    public init(ranges: [TimeRange] = [], damagePolicy: DamagePolicy = .fail) {
        self.ranges = ranges
        self.damagePolicy = damagePolicy
    }

    /// Creates an extent of one range, or of the whole asset.
    public init(_ range: TimeRange?) { self.init(ranges: range.map { [$0] } ?? []) }

    /// Range of the vended samples, on the asset's time line or, for several ranges, on that of their concatenation;
    /// nil for the whole asset.
    var outputRange: TimeRange? {
        guard ranges.count > 1 else { return ranges.first }
        return TimeRange(start: .zero, duration: ranges.reduce(.zero) { $0 + $1.duration })
    }
}
