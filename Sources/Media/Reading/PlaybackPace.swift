internal import Dispatch
internal import LibAV
internal import Locking

/// Schedule for samples that are vended at a limited rate (ffmpeg's `-readrate`). All outputs of a reader share it.
final class PlaybackPace: Sendable {
    private let rate: Double
    /// Media time at which playback starts.
    private let start: MediaTime
    /// Time of the first request; nil before it.
    private let startTime = Guarded<DispatchTime?>(nil)

    init(rate: Double, from start: MediaTime) {
        self.rate = rate
        self.start = start
    }

    /// Returns the time until a sample is due, at most a second; nil if it is due now.
    func wait(for time: MediaTime) -> DispatchTimeInterval? {
        let passed = startTime.withLock { begun in
            let now = DispatchTime.now()
            let first = begun ?? now
            begun = first
            return Double(now.uptimeNanoseconds - first.uptimeNanoseconds) / 1e9
        }
        let due = (time - start).seconds / rate
        guard due > passed else { return nil }
        // Callers wait at most a second, and then call again.
        return .microseconds(Int(min(1, due - passed) * 1e6) + 1)
    }
}
