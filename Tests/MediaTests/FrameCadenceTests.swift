import LibAV
import Media
import Testing

@Suite struct FrameCadenceTests {
    private func cadence(
        _ ticks: [Int64], until end: Int64, unit: Rational = Rational(1, 1000), declared: Rational? = nil
    ) -> FrameCadence {
        func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: unit) }
        return FrameCadence(
            of: ticks.map { time($0) }, in: TimeRange(start: .zero, end: time(end)), unit: unit,
            declared: declared)
    }

    @Test func roundedTimesHaveTheirOriginalRate() {
        let times = (0..<240).map { Int64((Double($0) * 1001 / 30).rounded()) }
        let found = cadence(times, until: 8008, declared: Rational(1000, 33))
        #expect(found == FrameCadence(frameRate: Rational(30000, 1001), isConstant: true))
    }

    @Test(arguments: [Rational(25, 1), Rational(15, 1), Rational(60000, 1001), Rational(24, 1)])
    func aStatedRateThatFitsIsKept(_ rate: Rational) {
        let times = (0..<100).map { Int64((Double($0) * 1000 / rate.double).rounded()) }
        #expect(
            cadence(times, until: 9000, declared: rate) == FrameCadence(frameRate: rate, isConstant: true))
    }

    @Test func delaysOfAnAnimationHaveTheRateOfTheirCommonDivisor() {
        let found = cadence([0, 10, 60], until: 260, unit: Rational(1, 100), declared: Rational(1, 2))
        #expect(found == FrameCadence(frameRate: Rational(10, 1), isConstant: false))
    }

    @Test func aGapDoesNotLowerTheRate() {
        let found = cadence([0, 40, 80, 1000, 1040, 1080], until: 1120, declared: Rational(5, 1))
        #expect(found == FrameCadence(frameRate: Rational(25, 1), isConstant: false))
    }

    @Test func unevenTimesHaveARateThatShowsEveryFrame() {
        let found = cadence([0, 33, 83, 100, 131, 183, 200], until: 233, declared: Rational(30, 1))
        #expect(!found.isConstant && found.omittedFrames == 0)
        #expect(found.frameRate.double >= 58 && found.frameRate.double <= 120)
    }

    @Test func framesThatAreTooShortAreCounted() {
        let found = cadence([0, 33, 66, 67, 100, 133], until: 166, declared: Rational(30, 1))
        #expect(!found.isConstant && found.omittedFrames == 1 && found.frameRate.double <= 60)
    }

    @Test func oneFrameHasTheStatedRate() {
        #expect(cadence([0], until: 40, declared: Rational(24, 1)).frameRate == Rational(24, 1))
        #expect(cadence([], until: 40).frameRate == Rational(25, 1))
    }

    @Test func hostileTimesDoNotTrap() {
        for end in [Int64.max / 16, 1] {
            _ = cadence(
                [0, 1, Int64.max / 16], until: end, unit: Rational(.max, 1), declared: Rational(0, 1))
            _ = cadence(
                [0, Int64.max / 16], until: end, unit: Rational(1, .max), declared: Rational(.max, 1))
        }
    }
}
