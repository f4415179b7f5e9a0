import LibAV
@testable import Media
import TestSupport
import Testing

/// Tests the exactness and rounding of times and ranges.
@Suite struct TimeRangeTests {
    private func range(_ start: Int64, _ end: Int64, _ scale: Int32 = 1000) -> TimeRange {
        TimeRange(
            start: MediaTime(value: start, timescale: scale), end: MediaTime(value: end, timescale: scale))
    }

    @Test func endAndDurationOfARangeAgree() {
        let one = range(1001, 4004, 30_000)
        #expect(one.duration == MediaTime(value: 3003, timescale: 30_000))
        #expect(one.end == MediaTime(value: 4004, timescale: 30_000))
        #expect(TimeRange(start: one.start, duration: one.duration) == one)
    }

    @Test func aPrefixIsNoLongerThanItsRange() {
        let one = range(500, 2500)
        #expect(one.prefix(lasting: MediaTime(value: 1, timescale: 2)) == range(500, 1000))
        #expect(one.prefix(lasting: MediaTime(value: 9, timescale: 1)) == one)
        let several = [range(0, 1000), range(5000, 7000), range(9000, 9500)]
        #expect(
            several.prefix(lasting: MediaTime(value: 3, timescale: 2)) == [range(0, 1000), range(5000, 5500)])
        #expect(several.prefix(lasting: MediaTime(value: 1, timescale: 1)) == [range(0, 1000)])
        #expect(several.prefix(lasting: .zero) == [])
        #expect(several.prefix(lasting: MediaTime(value: 99, timescale: 1)) == several)
    }

    /// Sums are exact for all time scales, as long as they are representable.
    @Test func sumsAreExact() {
        var random = SeededGenerator(3)
        for _ in 0..<5000 {
            let scales: [Int32] = [1, 24, 1000, 1001, 30_000, 44_100, 48_000, 90_000, 600]
            func time() -> MediaTime {
                MediaTime(
                    value: Int64.random(in: -1 << 40...1 << 40, using: &random),
                    timescale: scales.randomElement(using: &random) ?? 1)
            }
            let (a, b) = (time(), time())
            let sum = a + b
            let scale = Int128(a.timescale) * Int128(b.timescale)
            let exact = Int128(a.value) * Int128(b.timescale) + Int128(b.value) * Int128(a.timescale)
            let left = Int128(sum.value) * scale
            let right = exact * Int128(sum.timescale)
            #expect(left == right)
            #expect(sum - b == a && (a < b) == (b - a > .zero))
        }
    }

    @Test func ticksRoundInTheGivenDirection() {
        let third = MediaTime(value: 1, timescale: 3)
        let unit = Rational(1, 1000)
        #expect(third.ticks(in: unit, rounding: .down) == 333)
        #expect(third.ticks(in: unit, rounding: .up) == 334)
        #expect((.zero - third).ticks(in: unit, rounding: .down) == -334)
        #expect((.zero - third).ticks(in: unit, rounding: .up) == -333)
        #expect(MediaTime(value: 1, timescale: 2).ticks(in: unit, rounding: .up) == 500)
    }

    /// The ends of ranges are integers in the tick of their frames.
    @Test func commonTickRepresentsEveryEnd() {
        let ranges = [range(1001, 2002, 30_000), range(1, 3, 7)]
        let tick = AssetReader.videoTick(
            timeBase: Rational(1, 90_000), timeZero: MediaTime(value: 1, timescale: 25), ranges: ranges)
        for time in ranges.flatMap({ [$0.start, $0.end] }) {
            #expect(MediaTime(ticks: time.ticks(in: tick), timeBase: tick) == time)
        }
        #expect(commonTick([Rational(1, 25), Rational(1, 30)]) == Rational(1, 150))
        #expect(commonTick([Rational(1001, 30_000), Rational(1, 25)], limit: 100) == nil)
        #expect(commonTick([]) == nil)
    }
}
