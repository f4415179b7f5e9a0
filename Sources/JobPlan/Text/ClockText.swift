internal import LibAV
package import Media

/// A time in clock notation, to the millisecond; negative times are zero.
package struct ClockText: Sendable {
    /// Hours, without an upper limit.
    package let hours: Int64
    /// Minutes, 0 to 59.
    package let minutes: Int64
    /// Seconds, 0 to 59.
    package let seconds: Int64
    /// Milliseconds, 0 to 999.
    package let milliseconds: Int64

    /// Splits a time, rounded to the nearest millisecond, or down.
    package init(_ time: MediaTime, roundsDown: Bool = false) {
        let all = max(
            0, time.ticks(in: Rational(1, 1000), rounding: roundsDown ? .down : .toNearestOrAwayFromZero))
        (hours, minutes) = (all / 3_600_000, all / 60_000 % 60)
        (seconds, milliseconds) = (all / 1000 % 60, all % 1000)
    }

    /// Returns the time with a separator, as `00:01:30.500`.
    package func text(_ separator: String) -> String {
        [hours, minutes, seconds].map { Self.padded($0, to: 2) }.joined(separator: separator) + "."
            + Self.padded(milliseconds, to: 3)
    }

    /// Returns a number with leading zeros.
    static func padded(_ number: some BinaryInteger, to width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
