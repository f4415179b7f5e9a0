internal import LibAV

/// When the stills of an animation are shown.
package struct AnimationTiming: Sendable {
    /// When each begins: the first one at zero, later ones in order.
    package let starts: [MediaTime]
    /// When the last one ends.
    package let end: MediaTime

    /// Says when stills are shown.
    package init(starts: [MediaTime], end: MediaTime) {
        self.starts = starts
        self.end = end
    }

    /// How long each still is shown.
    package var lengths: [MediaTime] { zip(starts, starts.dropFirst() + [end]).map { $1 - $0 } }

    /// When each begins as a format counts, no two at once.
    func starts(in tick: Rational) -> [Int64] {
        var last: Int64 = -1
        return starts.map { start in
            last = max(last + 1, start.ticks(in: tick))
            return last
        }
    }
}
