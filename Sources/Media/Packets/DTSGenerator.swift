/// Decoding times made of presentation times: the n-th packet's is the (n − delay)-th presentation time in order, and
/// those before the first lie before all that can be shown.
struct DTSGenerator {
    private let delay: Int
    private let step: Int64
    private let hasLeadingFrames: Bool
    private var pending: [Int64] = []
    private var count = 0
    private var first: Int64 = 0
    private var last = Int64.min

    /// `delay`: how many frames are decoded ahead of the one that is shown. `step`: a frame's usual length. `hasLeadingFrames`: frames may
    /// be shown before the first one, which begins an open group; without them the first decoding times are a frame apart.
    init(delay: Int, step: Int64, hasLeadingFrames: Bool = true) {
        self.delay = delay
        self.step = step
        self.hasLeadingFrames = hasLeadingFrames
    }

    /// The decoding time of the next packet in decoding order. Nil where its delay is deeper than was said.
    mutating func time(of pts: Int64) -> Int64? {
        if count == 0 { first = pts }
        let place = pending.firstIndex { $0 > pts } ?? pending.count
        pending.insert(pts, at: place)
        // Leading frames of an open group are shown before the first, of which there are at most as many as the delay.
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
