internal import Media

/// Bit rates of a rendition in bits per second, rounded up.
struct BitRates: Hashable {
    /// Highest bit rate of contiguous segments that last between 0.5 and 1.5 target durations together (RFC 8216bis,
    /// 4.1); the average if there are none. At least the average.
    var peak: Int64
    /// Bit rate of all segments.
    var average: Int64

    static let zero = BitRates(peak: 0, average: 0)

    /// Measures segments of these sizes in bytes. `boundaries` has one element more: the segments' starts, and the end,
    /// in ticks; they increase.
    init(sizes: [Int64], boundaries: [Int64], timescale: Int32, targetDuration: Int64) {
        guard let first = boundaries.first, let last = boundaries.last, last > first,
            boundaries.count == sizes.count + 1
        else {
            self = .zero
            return
        }
        var sums: [Int64] = [0]
        sums.reserveCapacity(boundaries.count)
        var sum: Int64 = 0
        for size in sizes {
            sum += size
            sums.append(sum)
        }
        let scale = Int128(max(1, timescale))
        let bounds = (
            least: Int128(targetDuration) * scale, most: 3 * Int128(targetDuration) * scale
        )
        // Dinkelbach's method: while segments exist whose rate exceeds the highest known one, theirs is the next. Each
        // step is linear, and a few suffice.
        let whole = Rate(bytes: Int128(sum), ticks: Int128(last) - Int128(first))
        var highest = whole
        while let better = Self.best(above: highest, sums, boundaries, bounds) { highest = better }
        average = whole.bitsPerSecond(scale)
        peak = highest.bitsPerSecond(scale)
    }

    init(peak: Int64, average: Int64) { (self.peak, self.average) = (peak, average) }

    private struct Rate {
        let bytes: Int128
        let ticks: Int128

        func bitsPerSecond(_ timescale: Int128) -> Int64 {
            Int64(clamping: (bytes * 8 * timescale + ticks - 1) / ticks)
        }
    }

    /// Returns the rate of the contiguous segments within the bounds (in half ticks) that exceed a rate by the most bytes;
    /// nil if none exceeds it.
    private static func best(
        above rate: Rate, _ sums: [Int64], _ boundaries: [Int64], _ bounds: (least: Int128, most: Int128)
    ) -> Rate? {
        func excess(_ index: Int) -> Int128 {
            Int128(sums[index]) * rate.ticks - Int128(boundaries[index]) * rate.bytes
        }
        func halfTicks(_ from: Int, _ to: Int) -> Int128 {
            2 * (Int128(boundaries[to]) - Int128(boundaries[from]))
        }
        // Candidates for the first segment, with increasing excess: the first one is the least.
        var candidates: [(index: Int, excess: Int128)] = []
        var (head, next) = (0, 0)
        var found: (excess: Int128, rate: Rate)?
        for end in boundaries.indices {
            while next < end, halfTicks(next, end) >= bounds.least {
                let value = excess(next)
                while candidates.count > head, candidates[candidates.count - 1].excess >= value {
                    candidates.removeLast()
                }
                candidates.append((next, value))
                next += 1
            }
            while head < candidates.count, halfTicks(candidates[head].index, end) > bounds.most { head += 1 }
            guard head < candidates.count else { continue }
            let best = candidates[head]
            let value = excess(end) - best.excess
            guard value > 0, value > found?.excess ?? 0 else { continue }
            found = (
                value,
                Rate(
                    bytes: Int128(sums[end]) - Int128(sums[best.index]),
                    ticks: Int128(boundaries[end]) - Int128(boundaries[best.index]))
            )
        }
        return found?.rate
    }
}

extension StreamingPackage {
    /// Bit rates of all segments by rendition. Subtitles without segments and thumbnails are one segment that lasts as long
    /// as the package.
    var bitRates: [String: BitRates] {
        let target = targetDuration
        let duration = end - start
        return Dictionary(
            renditions.map { rendition in
                let isWhole = rendition.segments.isEmpty
                let rates = BitRates(
                    sizes: isWhole
                        ? [rendition.subtitles?.fileSize ?? rendition.thumbnails?.fileSize ?? 0]
                        : rendition.segments.map(\.size),
                    boundaries: isWhole ? [0, max(1, rendition.ticks(duration))] : rendition.boundaries,
                    timescale: rendition.timescale, targetDuration: target)
                return (rendition.id, rates)
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension StreamingRendition {
    /// Returns the bit rates of the keyframes alone.
    func keyframeBitRates(targetDuration: Int64) -> BitRates {
        BitRates(
            sizes: segments.map { $0.keyframe?.length ?? 0 }, boundaries: boundaries, timescale: timescale,
            targetDuration: targetDuration)
    }
}
