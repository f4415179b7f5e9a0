package import LibAV

/// The lowest frame rate at which a composition shows every frame of a clip.
package struct FrameCadence: Codable, Hashable, Sendable {
    /// Frames per second.
    package var frameRate: Rational
    /// Whether the clip's frames have equal durations, except for rounding to the container's time base.
    package var isConstant: Bool
    /// Number of frames that are dropped at this rate: those shown for less than 1/120 s.
    package var omittedFrames: Int64

    package init(frameRate: Rational, isConstant: Bool, omittedFrames: Int64 = 0) {
        (self.frameRate, self.isConstant, self.omittedFrames) = (frameRate, isConstant, omittedFrames)
    }

    /// Common frame rates in ascending order. The highest one is the maximum for variable frame rates.
    private static let common = [
        Rational(24000, 1001), Rational(24, 1), Rational(25, 1), Rational(30000, 1001), Rational(30, 1),
        Rational(48, 1), Rational(50, 1), Rational(60000, 1001), Rational(60, 1), Rational(100, 1),
        Rational(120, 1),
    ]

    /// Determines the rate of a clip's frames from their times in ascending order and the clip's range in the source.
    /// `unit` is the container's time base, `declared` the rate that the container declares or that was estimated.
    package init(of times: [MediaTime], in range: TimeRange, unit: Rational, declared: Rational?) {
        let declared = declared.flatMap { $0.isPositive ? $0 : nil }
        guard let first = times.first, times.count > 1 else {
            self.init(frameRate: declared ?? Rational(25, 1), isConstant: true)
            return
        }
        let ticks = times.map { ($0 - first).ticks(in: unit) }
        let mean = Self.rate(ofTicks: ticks[ticks.count - 1], for: Int64(ticks.count - 1), unit)
        // With a coarse time base, the declared rate is an estimate (1000/33) and no more accurate than the measured
        // one.
        let isEstimate = unit.double > 0.0005 && declared.map { !Self.common.contains($0) } ?? true
        let candidates = isEstimate ? Self.common + [declared, mean] : [declared] + Self.common + [mean]
        for rate in candidates.compactMap(\.self) where Self.fits(ticks, rate, unit) {
            self.init(frameRate: rate, isConstant: true)
            return
        }
        let clip = Clip(times: times, range: range)
        // If all durations are multiples of one duration of at least 1/120 s, that duration determines the rate. A
        // duration that also divides the distances to the clip's ends is preferred.
        let lengths = zip(ticks, ticks.dropFirst()).map { $1 - $0 }
        let edges = [first - range.start, range.end - first].map { $0.ticks(in: unit) }.filter { $0 > 0 }
        for extra in [edges, []] {
            let common = (lengths + extra).reduce(Int64(0), Self.greatestDivisor)
            if let rate = Self.rate(ofTicks: common, for: 1, unit), rate.double <= 120,
                clip.omittedFrames(at: rate) == 0
            {
                self.init(frameRate: rate, isConstant: false)
                return
            }
        }
        // Otherwise, the lowest common rate whose frames are at most as long as the shortest duration that isn't
        // dropped.
        let shortest = lengths.filter {
            MediaTime(ticks: $0 + 1, timeBase: unit) >= MediaTime(value: 1, timescale: 120)
        }.min()
        let needed = shortest.map { 1 / MediaTime(ticks: $0 + 1, timeBase: unit).seconds } ?? 120
        let rates = (([declared].compactMap(\.self)) + Self.common).filter {
            $0.double >= needed * 0.999 && $0.double <= 120
        }
        .sorted { $0.double < $1.double }
        let counted = rates.map { (rate: $0, omitted: clip.omittedFrames(at: $0)) }
        let least = counted.map(\.omitted).min() ?? 0
        // A higher rate is chosen only if it drops fewer frames.
        let chosen = counted.first { $0.omitted == least }
        self.init(
            frameRate: chosen?.rate ?? Rational(120, 1), isConstant: false,
            omittedFrames: chosen?.omitted ?? 0)
    }

    private static func rate(ofTicks ticks: Int64, for frames: Int64, _ unit: Rational) -> Rational? {
        guard ticks > 0, frames > 0 else { return nil }
        let (length, isTooLong) = ticks.multipliedReportingOverflow(by: Int64(unit.num))
        let (count, isTooMany) = frames.multipliedReportingOverflow(by: Int64(unit.den))
        guard !isTooLong, !isTooMany, length > 0 else { return nil }
        let divisor = max(1, greatestDivisor(count, length))
        guard let num = Int32(exactly: count / divisor), let den = Int32(exactly: length / divisor) else {
            return nil
        }
        return Rational(num, den)
    }

    private static func greatestDivisor(_ a: Int64, _ b: Int64) -> Int64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return abs(a)
    }

    /// Returns whether all times match a constant rate, with a tolerance of one unit each.
    private static func fits(_ ticks: [Int64], _ rate: Rational, _ unit: Rational) -> Bool {
        let (num, den) = (Int128(unit.num) * Int128(rate.num), Int128(unit.den) * Int128(rate.den))
        return ticks.enumerated().allSatisfy { index, tick in
            // The expected time, index / rate, is index · den / num units.
            abs(Int128(tick) * num - Int128(index) * den) <= num
        }
    }

    /// The times of a clip's frames, for counting those that no frame of the composition shows.
    private struct Clip {
        let times: [MediaTime]
        let range: TimeRange

        func omittedFrames(at rate: Rational) -> Int64 {
            var omitted: Int64 = 0
            var shown: Int64 = 0
            for index in times.indices {
                let end = index + 1 < times.count ? times[index + 1] : range.end
                // The first frame of the composition that shows the clip's next frame, with a tolerance for rounded
                // times.
                let next = (end - range.start - MediaTime(value: 1, timescale: 2000)).ticks(
                    in: rate.inverted, rounding: .up)
                if next <= shown, index + 1 < times.count { omitted += 1 }
                shown = max(shown, next)
            }
            return omitted
        }
    }
}

extension AssetContents {
    /// Returns the lowest frame rate that shows every frame of a track in a range. Reads the packets in the range.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func cadence(
        of track: AssetTrack, in range: TimeRange, path: String, environment: MediaEnvironment
    ) throws -> FrameCadence {
        let times = try frameTimes(in: range, of: track, path: path, environment: environment).sorted()
        // The frame on screen at the start, and those after it.
        let first = times.lastIndex { $0 <= range.start } ?? 0
        let shown = times.isEmpty ? [] : times[first...].filter { $0 < range.end }
        return FrameCadence(
            of: Array(shown), in: range, unit: track.timeBase, declared: track.nominalFrameRate)
    }
}
