public import LibAV

/// An exact time or duration: `value / timescale` seconds (AVFoundation's `CMTime`).
///
/// Arithmetic is exact as long as the result fits; otherwise it is rounded to the nearest nanosecond.
public struct MediaTime: Sendable, CustomStringConvertible {
    /// Number of units of `1 / timescale` seconds.
    public let value: Int64
    /// Units per second, at least 1.
    public let timescale: Int32

    /// Creates a time; a timescale below 1 is replaced by 1.
    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = max(1, timescale)
    }

    /// Creates the time nearest to a number of seconds, in units of `1 / timescale` seconds
    /// (`CMTimeMakeWithSeconds`); 0 for NaN and infinity.
    public init(seconds: Double, timescale: Int32 = 90_000) {
        let scale = max(1, timescale)
        let ticks = (seconds * Double(scale)).rounded()
        self.init(
            value: ticks.isFinite ? Int64(exactly: ticks) ?? (ticks < 0 ? .min : .max) : 0, timescale: scale)
    }

    /// Creates a time from ticks of a time base.
    public init(ticks: Int64, timeBase: Rational) {
        self.init(Int128(ticks) * Int128(max(1, timeBase.num)), Int128(max(1, timeBase.den)))
    }

    /// Creates a time from a ratio of seconds, reduced to lowest terms.
    init(_ numerator: Int128, _ denominator: Int128) {
        let divisor = max(1, gcd(numerator.magnitude, denominator.magnitude))
        var num = numerator / Int128(divisor)
        var den = denominator / Int128(divisor)
        if den > Int128(Int32.max) || num > Int128(Int64.max) || num < Int128(Int64.min) {
            // Whole seconds and the rest are converted separately, because their product may overflow.
            let (whole, rest) = num.quotientAndRemainder(dividingBy: max(1, den))
            let (product, isTooLarge) = whole.multipliedReportingOverflow(by: 1_000_000_000)
            num =
                isTooLarge
                ? (whole < 0 ? Int128(Int64.min) : Int128(Int64.max))
                : product + roundedDivision(rest * 1_000_000_000, den)
            den = 1_000_000_000
        }
        value = Int64(clamping: num)
        timescale = Int32(clamping: den)
    }

    /// The same time with value and timescale in lowest terms.
    package var reduced: MediaTime { MediaTime(Int128(value), Int128(timescale)) }

    /// Zero seconds.
    public static let zero = MediaTime(value: 0, timescale: 1)

    /// Seconds as a floating-point number, for display and estimates only.
    public var seconds: Double { Double(value) / Double(timescale) }

    /// Maximum absolute value of ticks: sums of several such values don't overflow, even for malformed files.
    package static let maxTicks = Int64.max / 8

    /// Returns the number of ticks of a time base, rounded, and limited to `maxTicks`.
    public func ticks(
        in timeBase: Rational, rounding rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> Int64 {
        let numerator = Int128(value) * Int128(max(1, timeBase.den))
        let denominator = Int128(timescale) * Int128(max(1, timeBase.num))
        let exact =
            switch rule {
            case .up: -floorDivision(-numerator, denominator)
            case .down: floorDivision(numerator, denominator)
            default: roundedDivision(numerator, denominator)
            }
        return min(Self.maxTicks, max(-Self.maxTicks, Int64(clamping: exact)))
    }

    /// The time as a time base for `commonTick`; nil if it isn't positive, or its value exceeds 32 bits.
    var asTimeBase: Rational? {
        guard value > 0, value <= Int64(Int32.max) else { return nil }
        return Rational(Int32(value), timescale)
    }

    /// Seconds with up to six decimals, such as `1.1`.
    public var description: String {
        let micros = ticks(in: Rational(1, 1_000_000))
        let sign = micros < 0 ? "-" : ""
        let magnitude = micros.magnitude
        var fraction = String(magnitude % 1_000_000)
        fraction = String(repeating: "0", count: 6 - fraction.count) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        return sign + "\(magnitude / 1_000_000)" + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// Returns the sum; exact if it fits, otherwise rounded to nanoseconds.
    public static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        MediaTime(
            Int128(a.value) * Int128(b.timescale) + Int128(b.value) * Int128(a.timescale),
            Int128(a.timescale) * Int128(b.timescale))
    }
    /// Returns the remainder of a division by another time; both must be positive, or `self` zero.
    func remainder(of other: MediaTime) -> MediaTime {
        let divisor = Int128(max(1, other.value)) * Int128(timescale)
        let rest = (Int128(value) * Int128(other.timescale)) % divisor
        return MediaTime(rest, Int128(timescale) * Int128(other.timescale))
    }
    /// Returns the difference; exact if it fits, otherwise rounded to nanoseconds.
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        a + MediaTime(value: 0 &- b.value, timescale: b.timescale)
    }
}

extension MediaTime: Comparable, Hashable {
    /// Returns whether two times are equal, regardless of their timescales.
    public static func == (a: MediaTime, b: MediaTime) -> Bool {
        Int128(a.value) * Int128(b.timescale) == Int128(b.value) * Int128(a.timescale)
    }
    /// Returns whether a time is before another, regardless of their timescales.
    public static func < (a: MediaTime, b: MediaTime) -> Bool {
        Int128(a.value) * Int128(b.timescale) < Int128(b.value) * Int128(a.timescale)
    }
    /// Hashes the reduced time, so that equal times have equal hashes.
    public func hash(into hasher: inout Hasher) {
        let reduced = reduced
        hasher.combine(reduced.value)
        hasher.combine(reduced.timescale)
    }
}

extension MediaTime: Codable {
    /// Decodes `value/timescale`.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let parts = text.split(separator: "/")
        guard parts.count == 2, let value = Int64(parts[0]), let scale = Int32(parts[1]), scale > 0 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
        }
        self.init(value: value, timescale: scale)
    }
    /// Encodes `value/timescale`, so that a plan is exact and readable.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(value)/\(timescale)")
    }
}

/// A range of media time, half-open (AVFoundation's `CMTimeRange`).
public struct TimeRange: Hashable, Codable, Sendable {
    /// Start of the range, inclusive.
    public var start: MediaTime
    /// Duration of the range.
    public var duration: MediaTime

    /// Creates a range from a start and a duration.
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }

    /// Creates the range `[start, end)`.
    public init(start: MediaTime, end: MediaTime) { self.init(start: start, duration: end - start) }

    /// End of the range, exclusive.
    public var end: MediaTime { start + duration }
}

extension AssetReader {
    /// Returns the time base in which frames of a track are vended. If possible, the track's times, time zero and
    /// both ends of the range are exact in it.
    package static func videoTick(timeBase: Rational, timeZero: MediaTime, range: TimeRange?) -> Rational {
        videoTick(timeBase: timeBase, timeZero: timeZero, ranges: range.map { [$0] } ?? [])
    }

    /// Returns the time base for several joined ranges: every end except the last one determines the times of later
    /// frames, and should be exact as well.
    package static func videoTick(timeBase: Rational, timeZero: MediaTime, ranges: [TimeRange]) -> Rational {
        // With a finer time base, durations of minutes would overflow in mp4. The start affects every frame, the last
        // end only the last frame's duration.
        let inner = ranges.map(\.start) + ranges.dropLast().map(\.end)
        let start = [timeBase, timeZero.asTimeBase].compactMap { $0 } + inner.compactMap(\.asTimeBase)
        let limit: Int32 = 3_000_000
        return commonTick(start + [ranges.last?.end.asTimeBase].compactMap { $0 }, limit: limit)
            ?? commonTick(start, limit: limit) ?? timeBase
    }
}

/// Returns the largest time base of which all given ones are multiples; nil if it is finer than `limit` ticks per
/// second.
func commonTick(_ ticks: [Rational], limit: Int32 = 1_000_000_000) -> Rational? {
    var num: UInt128 = 0
    var den: UInt128 = 1
    for tick in ticks where tick.isPositive {
        // gcd(a/b, c/d) = gcd(ad, cb) / bd
        let a = num * UInt128(tick.den)
        let c = UInt128(tick.num) * den
        num = gcd(a, c)
        den *= UInt128(tick.den)
        let divisor = max(1, gcd(num, den))
        num /= divisor
        den /= divisor
        if den > UInt128(limit) || num > UInt128(Int32.max) { return nil }
    }
    return num == 0 ? nil : Rational(Int32(num), Int32(den))
}

private func gcd(_ a: UInt128, _ b: UInt128) -> UInt128 {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
}

private func floorDivision(_ a: Int128, _ b: Int128) -> Int128 {
    let quotient = a / b
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient
}

private func roundedDivision(_ a: Int128, _ b: Int128) -> Int128 {
    a >= 0 ? (a + b / 2) / b : -((-a + b / 2) / b)
}

extension MediaTime {
    /// Returns the time multiplied by a ratio of integers; exact if it fits, otherwise rounded to nanoseconds.
    package func multiplied(by factor: Int64, dividedBy divisor: Int64) -> MediaTime {
        MediaTime(Int128(value) * Int128(factor), Int128(timescale) * Int128(max(1, divisor)))
    }
}

extension TimeRange {
    /// Returns the range, shortened to a maximum duration.
    package func prefix(lasting length: MediaTime) -> TimeRange {
        TimeRange(start: start, duration: min(duration, length))
    }
}

extension [TimeRange] {
    /// Returns the ranges, shortened to a maximum total duration.
    package func prefix(lasting length: MediaTime) -> [TimeRange] {
        var remaining = length
        var kept: [TimeRange] = []
        for range in self where remaining > .zero {
            kept.append(range.prefix(lasting: remaining))
            remaining = remaining - range.duration
        }
        return kept
    }
}

extension MediaTime {
    /// Maximum time accepted from a source: about three thousand years.
    package static let longest = MediaTime(value: 100_000_000_000, timescale: 1)

    /// The time, limited to the range from -`longest` to `longest`.
    package var bounded: MediaTime { min(.longest, max(.zero - .longest, self)) }
}

extension TimeRange {
    /// The range, with start and duration limited to `longest`.
    package var bounded: TimeRange { TimeRange(start: start.bounded, duration: duration.bounded) }
}
