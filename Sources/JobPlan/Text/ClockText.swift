internal import LibAV
package import Media

/// A time as a clock shows it, to the millisecond; below zero as zero.
package struct ClockText: Sendable {
    /// Hours, of which there may be any number.
    package let hours: Int64
    /// Minutes of the hour.
    package let minutes: Int64
    /// Seconds of the minute.
    package let seconds: Int64
    /// Thousandths of the second.
    package let milliseconds: Int64

    /// Of a time; rounded to the millisecond, or down.
    package init(_ time: MediaTime, roundsDown: Bool = false) {
        let all = max(
            0, time.ticks(in: Rational(1, 1000), rounding: roundsDown ? .down : .toNearestOrAwayFromZero))
        (hours, minutes) = (all / 3_600_000, all / 60_000 % 60)
        (seconds, milliseconds) = (all / 1000 % 60, all % 1000)
    }

    /// All of it, as `00:01:30.500`.
    package func text(_ separator: String) -> String {
        [hours, minutes, seconds].map { Self.padded($0, to: 2) }.joined(separator: separator) + "."
            + Self.padded(milliseconds, to: 3)
    }

    /// A number with zeros before it.
    static func padded(_ number: some BinaryInteger, to width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
