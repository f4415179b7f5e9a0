import Diagnostics
import JobPlan
import JobSpec
import LibAV
import Media
import Testing

@testable import PlanWork

/// The search of `crf` for a quality, against encoders whose similarity is a function of `crf`.
@Suite struct QualityFitTests {
    private static let location = SourceRange(file: "j.yaml", line: 1, column: 1, endLine: 1, endColumn: 2)

    private func target(
        _ encoder: String, _ metric: SimilarityMetric, _ value: Double, crf: ClosedRange<Int>? = nil
    ) throws -> TargetQuality {
        let spec = QualitySpec(
            metric: metric, value: value, pool: .mean, within: QualitySpec.defaultWithin(metric), crf: crf)
        let model = try #require(EncoderModel.named(encoder))
        return try #require(
            TargetQuality(
                Located(spec, at: Self.location), encoder: model, ranges: [],
                tick: Rational(1, 25)))
    }

    /// Returns the fit after its search and encodes, whose values exceed those of the probes by `offset`. Those of probes of a
    /// part of the windows exceed them by `partial`.
    private func fit(
        _ target: TargetQuality, offset: Double = 0, partial: Double = 0, _ value: (Double) -> Double
    ) -> QualityFit {
        var fit = QualityFit(target)
        while let probe = fit.nextProbe {
            let value = value(Double(probe.crf) / 1000) + (probe.isPartial ? partial : 0)
            fit.addProbe(QualityFit.Attempt(crf: probe.crf, value: value, isPartial: probe.isPartial))
        }
        if fit.isUnreachable { return fit }
        while let crf = fit.nextEncode {
            fit.addEncode(QualityFit.Attempt(crf: crf, value: value(Double(crf) / 1000) + offset))
        }
        return fit
    }

    @Test(arguments: ["libx264", "libx265", "libsvtav1", "libvpx-vp9"], [34.0, 40, 46])
    func searchesEnd(_ encoder: String, _ wanted: Double) throws {
        let target = try target(encoder, .psnr, wanted)
        let fit = fit(target) { 56 - 0.4 * $0 - 0.003 * $0 * $0 }
        #expect(fit.probes.count <= QualityFit.maximumProbes)
        #expect(fit.encodes.count == 1)
        #expect(abs(try #require(fit.encodes.last).value - wanted) <= 0.3)
    }

    @Test func structuralSimilarityIsReached() throws {
        let fit = fit(try target("libx264", .ssim, 0.985)) { 1 - 0.001 * pow2($0 / 6) }
        #expect(abs(try #require(fit.encodes.last).value - 0.985) <= 0.002)
        #expect(fit.probes.count <= 4)
    }

    @Test(arguments: [-1.5, 1.5])
    func differencesOfTheWholeAreCorrectedOnce(_ offset: Double) throws {
        let fit = fit(try target("libx264", .psnr, 40), offset: offset) { 52 - 0.5 * $0 }
        #expect(fit.encodes.count == 2)
        #expect(abs(try #require(fit.encodes.last).value - 40) <= 0.3)
    }

    /// A whole that is less similar than the windows, by somewhat more than the accepted difference, is encoded once.
    @Test(arguments: [0, -0.35]) func windowsExceedTheTarget(_ offset: Double) throws {
        var target = try target("libx264", .psnr, 40)
        target.windows = [TimeRange(start: .zero, duration: MediaTime(seconds: 2))]
        let fit = fit(target, offset: offset) { 52 - 0.5 * $0 }
        #expect(fit.encodes.count == 1 && !fit.isInsufficient)
        #expect(abs(try #require(fit.probes.last).value - 40.15) <= 0.15)
        // Close to identity, the distance to it is halved at most.
        var high = try self.target("libx264", .ssim, 0.999)
        high.windows = target.windows
        var search = QualityFit(high)
        search.addProbe(QualityFit.Attempt(crf: 10_000, value: 0.9995))
        #expect(search.nextProbe == nil)
    }

    @Test func targetsOutOfRangeAreUnreachable() throws {
        let fit = fit(try target("libx264", .psnr, 60, crf: 16_000...32_000)) { 52 - 0.5 * $0 }
        #expect(fit.isUnreachable)
        #expect(fit.probes.map(\.crf) == [23_000, 16_000])
    }

    /// Windows that are a little below the target at the lowest `crf` don't fail the job.
    @Test func windowsDecideOnlyIfTheyAreFarBelowTheTarget() throws {
        var target = try target("libx264", .psnr, 44.8, crf: 16_000...32_000)
        #expect(fit(target) { 52 - 0.5 * $0 }.isUnreachable)
        target.windows = [TimeRange(start: .zero, duration: MediaTime(seconds: 2))]
        let whole = fit(target, offset: 0.6) { 52 - 0.5 * $0 }
        #expect(!whole.isUnreachable && !whole.isInsufficient)
        #expect(whole.encodes.map(\.crf) == [16_000])
        #expect(fit(target, offset: 0) { 52 - 0.5 * $0 }.isInsufficient)
    }

    @Test func maximumOfTheRangeIsAccepted() throws {
        let fit = fit(try target("libx264", .psnr, 30, crf: 16_000...32_000)) { 52 - 0.5 * $0 }
        #expect(!fit.isUnreachable && !fit.isInsufficient)
        #expect(fit.encodes.map(\.crf) == [32_000])
    }

    /// A correction to a lower quality that isn't sufficient is replaced by the earlier encode.
    @Test func sufficientEncodesAreRepeated() throws {
        var fit = QualityFit(try target("libsvtav1", .psnr, 40))
        fit.addProbe(QualityFit.Attempt(crf: 35_000, value: 40))
        fit.addEncode(QualityFit.Attempt(crf: 35_000, value: 41))
        let next = try #require(fit.nextEncode)
        #expect(next > 35_000)
        fit.addEncode(QualityFit.Attempt(crf: next, value: 39))
        #expect(fit.nextEncode == 35_000)
        fit.addEncode(QualityFit.Attempt(crf: 35_000, value: 41))
        #expect(fit.nextEncode == nil && !fit.isInsufficient)
    }

    @Test func windowsAreDistributed() throws {
        let millisecond = Rational(1, 1000)
        let hour = TimeRange(start: .zero, duration: MediaTime(seconds: 3600))
        let windows = TargetQuality.windows(in: [hour], tick: millisecond)
        #expect(windows.count == 32)
        let starts: [Double] = (0..<32).map { (index: Int) -> Double in Double(index) * 112.5 + 55.85 }
        #expect(windows.map(\.start.seconds) == starts)
        #expect(windows.allSatisfy { $0.duration.seconds == 0.8 })
        let short = TimeRange(start: .zero, duration: MediaTime(seconds: 30))
        #expect(TargetQuality.windows(in: [short], tick: millisecond).isEmpty)
        let parts = TargetQuality.windows(
            in: [
                TimeRange(start: MediaTime(seconds: 10), duration: MediaTime(seconds: 1)),
                TimeRange(start: MediaTime(seconds: 20), duration: MediaTime(seconds: 59)),
            ], tick: millisecond)
        #expect(parts.count == 8)
        #expect(
            parts.map(\.start.seconds)
                == (0..<8).map { (index: Int) -> Double in Double(index) * 7.5 + 22.35 })
    }

    /// The first probes encode every fourth window. The similarity of the first 0.4 s of each window isn't measured.
    @Test func windowsOfProbes() throws {
        var target = try target("libx264", .ssim, 0.98)
        #expect(target.fewWindows.isEmpty)
        target.windows = TargetQuality.windows(
            in: [TimeRange(start: .zero, duration: MediaTime(seconds: 80))], tick: Rational(1, 1000))
        #expect(target.fewWindows == [2, 6].map { target.windows[$0] })
        let settling = TargetQuality.settling(in: target.fewWindows)
        #expect(settling.map(\.start.seconds) == [0, 0.8])
        #expect(settling.map(\.duration.seconds) == [0.4, 0.4])
        let short = [TimeRange(start: .zero, duration: MediaTime(seconds: 0.2))]
        #expect(TargetQuality.settling(in: short).map(\.duration.seconds) == [0.2])
    }

    /// Windows start at most their duration after a keyframe in their range that isn't in the window before.
    @Test func windowsStartNearKeyFrames() {
        func times(_ windows: [TimeRange]) -> [Double] { windows.map(\.start.seconds) }
        func seconds(_ values: [Double]) -> [MediaTime] {
            values.map { MediaTime(value: Int64($0 * 1000), timescale: 1000) }
        }
        let windows = seconds([3, 11, 19, 27]).map { TimeRange(start: $0, duration: seconds([0.8])[0]) }
        let keyFrames: [MediaTime?] = seconds([1, 10.5, 10.5]) + [nil]
        let moved = TargetQuality.windows(windows, near: keyFrames, in: [])
        #expect(times(moved) == [1.8, 11, 19, 27])
        #expect(moved.allSatisfy { $0.duration.seconds == 0.8 })
        let range = TimeRange(start: seconds([10.75])[0], end: seconds([40])[0])
        let inRange = TargetQuality.windows(
            Array(windows[1...]), near: Array(keyFrames[1...]), in: [range])
        #expect(times(inRange) == [11, 19, 27])
        // Ranges can be in another order than in the source.
        let ranges = [
            TimeRange(start: seconds([18])[0], end: seconds([30])[0]),
            TimeRange(start: .zero, end: seconds([5])[0]),
        ]
        let reordered = TargetQuality.windows(
            [windows[2], windows[0]], near: seconds([18.5, 2]).map { $0 }, in: ranges)
        #expect(times(reordered) == [19, 2.8])
    }

    /// With windows, all of them are encoded once if the probes of a part have shown how the similarity changes with `crf`, even
    /// if those of the part differ.
    @Test(arguments: ["libx264", "libx265", "libsvtav1", "libvpx-vp9"], [-0.8, 0, 0.8])
    func allWindowsAreProbedOnce(_ encoder: String, _ partial: Double) throws {
        var target = try target(encoder, .psnr, 40)
        target.windows = [TimeRange(start: .zero, duration: MediaTime(seconds: 2))]
        let fit = fit(target, partial: partial) { 56 - 0.4 * $0 - 0.003 * $0 * $0 }
        #expect(fit.probes.count { $0.isPartial } <= 2)
        #expect(fit.probes.count { !$0.isPartial } <= (partial == 0 ? 1 : 2))
        #expect(fit.encodes.count == 1)
        #expect(abs(try #require(fit.encodes.last).value - 40) <= 0.3)
    }

    /// The curve of `explain`: the similarity in a row, with the accepted values in brackets.
    @Test func curve_showsAllAttempts() throws {
        typealias Attempt = OutputResult.Quality.Attempt
        let quality = OutputResult.Quality(
            metric: .psnr, pool: .mean, target: 40, within: 0.3,
            probes: [
                Attempt(crf: 26, value: 40.1, windows: 8), Attempt(crf: 23, value: 41.2, windows: 3),
            ], encodes: [Attempt(crf: 26.25, value: 39.95)])
        #expect(
            quality.curve == [
                "crf 23     [···············]····················o· 41.2 dB  3 windows",
                "crf 26     [··········o····]······················ 40.1 dB  8 windows",
                "crf 26.25  [······x········]······················ 39.95 dB file",
            ])
        #expect(
            quality.text
                == "probes crf 26: 40.1 dB (8 windows), crf 23: 41.2 dB (3 windows); file crf 26.25: 39.95 dB"
        )
    }

    /// Times that can't be counted in ticks have no windows.
    @Test func hugeRangesHaveNoWindows() {
        let range = TimeRange(start: .zero, duration: MediaTime(value: .max, timescale: 1))
        #expect(TargetQuality.windows(in: [range], tick: Rational(1, 1_000_000_000)).isEmpty)
    }

    /// Windows begin at frames of a constant rate, so that the frames of joined windows are at multiples of its duration.
    @Test func windowsBeginAtFrames() throws {
        let range = TimeRange(start: .zero, duration: MediaTime(seconds: 31))
        for tick in [Rational(1, 25), Rational(1001, 30000)] {
            let windows = TargetQuality.windows(in: [range], tick: tick)
            #expect(windows.count == 8)
            for window in windows {
                for time in [window.start, window.duration] {
                    let ticks = (time.seconds / tick.double).rounded()
                    #expect(MediaTime(ticks: Int64(ticks), timeBase: tick) == time)
                }
            }
        }
    }

    private func pow2(_ exponent: Double) -> Double {
        var result = 1.0
        for _ in 0..<Int(exponent) { result *= 2 }
        return result * (1 + (exponent - exponent.rounded(.down)))
    }
}
