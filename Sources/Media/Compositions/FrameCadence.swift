package import LibAV

/// The frame rate at which a composition shows every frame of a clip.
package struct FrameCadence: Codable, Hashable, Sendable {
    /// Frames a second.
    package var frameRate: Rational
    /// The clip's frames are equally long, but for the rounding of the container's unit.
    package var isConstant: Bool
    /// Frames that the rate leaves out: they are shown for less than 1/120 s.
    package var omittedFrames: Int64

    /// A cadence as given.
    package init(frameRate: Rational, isConstant: Bool, omittedFrames: Int64 = 0) {
        (self.frameRate, self.isConstant, self.omittedFrames) = (frameRate, isConstant, omittedFrames)
    }

    /// Rates that media have, in order; a variable rate gets no higher one.
    private static let common = [
        Rational(24000, 1001), Rational(24, 1), Rational(25, 1), Rational(30000, 1001), Rational(30, 1),
        Rational(48, 1), Rational(50, 1), Rational(60000, 1001), Rational(60, 1), Rational(100, 1),
        Rational(120, 1),
    ]

    /// Finds the rate of frames whose times are given in order, in a range of their source. `unit` is the container's, `declared` the rate that
    /// it states or that was estimated from it.
    package init(of times: [MediaTime], in range: TimeRange, unit: Rational, declared: Rational?) {
        let declared = declared.flatMap { $0.isPositive ? $0 : nil }
        guard let first = times.first, times.count > 1 else {
            self.init(frameRate: declared ?? Rational(25, 1), isConstant: true)
            return
        }
        let ticks = times.map { ($0 - first).ticks(in: unit) }
        let mean = Self.rate(ofTicks: ticks[ticks.count - 1], for: Int64(ticks.count - 1), unit)
        // In a coarse unit, an estimate (1000/33) is as good as the rate that it comes from.
        let isEstimate = unit.double > 0.0005 && declared.map { !Self.common.contains($0) } ?? true
        let candidates = isEstimate ? Self.common + [declared, mean] : [declared] + Self.common + [mean]
        for rate in candidates.compactMap(\.self) where Self.fits(ticks, rate, unit) {
            self.init(frameRate: rate, isConstant: true)
            return
        }
        let clip = Clip(times: times, range: range)
        // Where every frame's length is a multiple of one that is long enough, that is it, at best to the clip's end.
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
        // The least of the usual rates at which frames are as short as the shortest, of those that are long enough.
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
        // More frames are no use where they don't show more of the clip's.
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

    /// Whether frames of one length are at these times, each of which may be off by a unit.
    private static func fits(_ ticks: [Int64], _ rate: Rational, _ unit: Rational) -> Bool {
        let (num, den) = (Int128(unit.num) * Int128(rate.num), Int128(unit.den) * Int128(rate.den))
        return ticks.enumerated().allSatisfy { index, tick in
            // index / rate in units is index · den / num.
            abs(Int128(tick) * num - Int128(index) * den) <= num
        }
    }

    /// The frames of a clip as a composition shows them: at each of its frames, the one that is on screen.
    private struct Clip {
        let times: [MediaTime]
        let range: TimeRange

        func omittedFrames(at rate: Rational) -> Int64 {
            var omitted: Int64 = 0
            var shown: Int64 = 0
            for index in times.indices {
                let end = index + 1 < times.count ? times[index + 1] : range.end
                // The first frame of the composition at which the next one is shown, with what containers' rounding is forgiven.
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
    /// The rate at which every frame of a part of a track is shown. Packets of that part are read.
    /// - Throws: `MediaError` or `InputError` where the source can't be read.
    package func cadence(
        of track: AssetTrack, in range: TimeRange, path: String, environment: MediaEnvironment
    ) throws -> FrameCadence {
        let times = try frameTimes(in: range, of: track, path: path, environment: environment).sorted()
        // What is on screen at the start, and what follows.
        let first = times.lastIndex { $0 <= range.start } ?? 0
        let shown = times.isEmpty ? [] : times[first...].filter { $0 < range.end }
        return FrameCadence(
            of: Array(shown), in: range, unit: track.timeBase, declared: track.nominalFrameRate)
    }
}
