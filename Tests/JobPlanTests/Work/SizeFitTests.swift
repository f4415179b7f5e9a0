import Diagnostics
import JobPlan
import Testing

@testable import PlanWork

/// Tests the corrections of a bit rate towards a size.
@Suite struct SizeFitTests {
    /// A target of 1 MB, which accepts 970 kB and more.
    private func fit(_ attempts: (rate: Int64, size: Int64)..., maximum: Int64 = 1_000_000_000) -> SizeFit {
        let location = SourceRange(file: "jobs.yaml", line: 1, column: 1, endLine: 1, endColumn: 2)
        var fit = SizeFit(
            TargetSize(bytes: 1_000_000, minimumRate: 50_000, maximumRate: maximum, location: location))
        for attempt in attempts {
            fit.add(SizeFit.Attempt(bitRate: attempt.rate, size: attempt.size, video: attempt.size - 100_000))
        }
        return fit
    }

    @Test func sizesWithinTheBoundsAreAccepted() {
        for size in [970_000, 985_000, 1_000_000] as [Int64] {
            let fit = fit((100_000, size))
            #expect(fit.nextRate == nil && !fit.isOver && !fit.isUnder, "\(size)")
        }
        #expect(fit((100_000, 1_000_001)).isOver)
        #expect(fit((100_000, 969_999)).isUnder)
    }

    @Test func theFirstCorrectionIsProportionalToTheVideo() {
        // 885 kB of video are aimed at, beside 100 kB of other data.
        #expect(fit((100_000, 1_100_000)).nextRate == 88_500)
        #expect(fit((100_000, 600_000)).nextRate == 177_000)
    }

    @Test func theSecondCorrectionFollowsTheMeasuredExponent() throws {
        // Twice the rate increased 700 kB of video by the square root of two. The last correction is aimed at 977.5 kB.
        let video = 989_949.0
        let next = try #require(fit((100_000, 800_000), (200_000, 1_089_949)).nextRate)
        let expected: Double = 200_000.0 * (877_500.0 / video) * (877_500.0 / video)
        #expect(abs(Double(next) - expected) < 200, "\(next) instead of \(expected)")
        // A rate is raised at most in proportion.
        let raised = try #require(fit((100_000, 600_000), (200_000, 807_107)).nextRate)
        let proportional: Double = 200_000.0 * 877_500.0 / 707_107.0
        #expect(abs(Double(raised) - proportional) < 200, "\(raised)")
    }

    @Test func corrections() {
        // An encode that was small enough is repeated.
        let repeated = fit((100_000, 800_000), (130_000, 1_100_000), (120_000, 1_020_000))
        #expect(repeated.nextRate == 100_000)
        #expect(
            fit((100_000, 800_000), (130_000, 1_100_000), (120_000, 1_020_000), (100_000, 800_000)).nextRate
                == nil)
        // Other files that are too large aren't encoded a fourth time.
        let last = fit((100_000, 1_200_000), (80_000, 1_100_000), (60_000, 1_050_000))
        #expect(last.nextRate == nil && last.isOver)
        #expect(fit((100_000, 900_000), (120_000, 1_020_000)).nextRate != nil)
        // A higher rate has no effect.
        let simple = fit((100_000, 300_000), (400_000, 301_000))
        #expect(simple.nextRate == nil && simple.isUnder && simple.isSaturated)
        // The maximum rate is reached.
        let bounded = fit((100_000, 300_000), maximum: 100_000)
        #expect(bounded.nextRate == nil && !bounded.isSaturated)
        #expect(fit((100_000, 300_000), maximum: 150_000).nextRate == 150_000)
        // The rate would be less than the minimum.
        #expect(fit((100_000, 2_000_000)).nextRate == nil && fit((100_000, 1_700_000)).nextRate != nil)
        // The other data alone exceed the size.
        var other = fit()
        other.add(SizeFit.Attempt(bitRate: 100_000, size: 1_300_000, video: 200_000))
        #expect(other.nextRate == nil && other.isOver)
    }

    @Test func attemptsAreText() {
        #expect(
            fit((100_000, 1_200_000), (80_000, 990_000)).text == "100 kb/s: 1.2 MB, 80 kb/s: 990.0 kB")
    }
}
