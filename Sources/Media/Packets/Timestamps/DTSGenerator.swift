/// Derives decoding times from presentation times: the n-th packet gets the (n − delay)-th presentation time in
/// ascending order; the first `delay` packets get times before all presentation times.
struct DTSGenerator {
    private let delay: Int
    private let step: Int64
    private let hasLeadingFrames: Bool
    private var pending: [Int64] = []
    private var count = 0
    private var first: Int64 = 0
    private var last = Int64.min

    /// Creates a generator. `delay`: reorder depth in frames. `step`: nominal frame duration. `hasLeadingFrames`:
    /// whether frames may be presented before the first one, which begins an open GOP; otherwise the first decoding
    /// times are a frame apart.
    init(delay: Int, step: Int64, hasLeadingFrames: Bool = true) {
        self.delay = delay
        self.step = step
        self.hasLeadingFrames = hasLeadingFrames
    }

    /// Returns the decoding time of the next packet in decoding order; nil if its reordering exceeds `delay`.
    mutating func time(of pts: Int64) -> Int64? {
        if count == 0 { first = pts }
        let index = pending.firstIndex { $0 > pts } ?? pending.count
        pending.insert(pts, at: index)
        // Leading frames of an open GOP precede the first frame in presentation order; there are at most `delay` of
        // them.
        let lead =
            hasLeadingFrames
            ? Int64(delay) * step + Int64(delay - count) * max(1, step / 4) : Int64(delay - count) * step
        let dts = max(count < delay ? first - lead : pending.removeFirst(), last == .min ? .min : last + 1)
        count += 1
        guard dts <= pts else { return nil }
        last = dts
        return dts
    }
}
