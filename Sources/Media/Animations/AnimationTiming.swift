internal import LibAV

/// Times of an animation's still images.
package struct AnimationTiming: Sendable {
    /// Start of each image, in ascending order; the first one is zero.
    package let starts: [MediaTime]
    /// End of the last image.
    package let end: MediaTime

    package init(starts: [MediaTime], end: MediaTime) {
        self.starts = starts
        self.end = end
    }

    /// Duration of each still image.
    package var lengths: [MediaTime] { zip(starts, starts.dropFirst() + [end]).map { $1 - $0 } }

    /// Returns the start of each image in units of `tick`. Starts that would be equal after rounding are moved by a
    /// tick.
    func starts(in tick: Rational) -> [Int64] {
        var last: Int64 = -1
        return starts.map { start in
            last = max(last + 1, start.ticks(in: tick))
            return last
        }
    }
}
