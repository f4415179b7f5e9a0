internal import LibAV
internal import Media

extension MediaTime {
    /// The number of microseconds, rounded to the nearest.
    var microseconds: Int64 { ticks(in: Rational(1, 1_000_000)) }
    /// The number of ticks of MPEG-2's clock, rounded to the nearest.
    var mpegTicks: Int64 { ticks(in: Rational(1, 90_000)) }
}
