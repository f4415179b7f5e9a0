internal import Dispatch
internal import LibAV
internal import Locking

/// When samples are due that are vended no faster than they play (ffmpeg's `-readrate`). One for all outputs of a reader.
final class PlaybackPace: Sendable {
    private let rate: Double
    /// Where playing begins.
    private let start: MediaTime
    /// When it began: when the first sample was asked for.
    private let begun = Guarded<DispatchTime?>(nil)

    init(rate: Double, from start: MediaTime) {
        self.rate = rate
        self.start = start
    }

    /// How long a sample has to wait; nil where it is due.
    func wait(for time: MediaTime) -> DispatchTimeInterval? {
        let passed = begun.withLock { begun in
            let now = DispatchTime.now()
            let first = begun ?? now
            begun = first
            return Double(now.uptimeNanoseconds - first.uptimeNanoseconds) / 1e9
        }
        let due = (time - start).seconds / rate
        guard due > passed else { return nil }
        // Nobody waits longer without being asked again.
        return .microseconds(Int(min(1, due - passed) * 1e6) + 1)
    }
}
