internal import LibAV

/// Times of an animation's still images.
package struct AnimationTiming: Sendable {
    /// Start of each image: the first one at zero, later ones in order.
    package let starts: [MediaTime]
    /// End of the last image.
    package let end: MediaTime

    /// Creates a timing.
    package init(starts: [MediaTime], end: MediaTime) {
        self.starts = starts
        self.end = end
    }

    /// Duration of each still image.
    package var lengths: [MediaTime] { zip(starts, starts.dropFirst() + [end]).map { $1 - $0 } }

    /// Returns the start of each image in a format's time base; starts are distinct.
    func starts(in tick: Rational) -> [Int64] {
        var last: Int64 = -1
        return starts.map { start in
            last = max(last + 1, start.ticks(in: tick))
            return last
        }
    }
}
