internal import LibAV

/// Limits for timestamps of a source, which is untrusted input.
enum TimeBounds {
    /// Maximum absolute value in seconds: longer than any real file, and small enough that sums don't overflow.
    static let seconds: Int64 = 1_000_000_000
    /// Longest gap accepted anywhere in a track.
    static let pause = MediaTime(value: 600, timescale: 1)
    /// Longest gap accepted within the declared duration of the track.
    static let longPause = MediaTime(value: 6 * 3600, timescale: 1)
    /// Largest accepted decrease of timestamps, for reordering and rounding.
    static let backstep = MediaTime(value: 1, timescale: 1)

    /// Returns whether a packet's times are within bounds. `noTimestamp` is accepted.
    static func contain(_ packet: borrowing Packet, timeBase: Rational) -> Bool {
        let limit = seconds * Int64(max(1, timeBase.den)) / Int64(max(1, timeBase.num))
        func isFine(_ time: Int64) -> Bool { time == noTimestamp || time.magnitude <= limit.magnitude }
        return isFine(packet.pts) && isFine(packet.dts) && packet.duration >= 0 && packet.duration <= limit
    }

    /// Returns whether the times of an appended sample are known and within bounds.
    static func contain(_ sample: borrowing SampleBuffer) -> Bool {
        let limit = seconds * Int64(max(1, sample.timeBase.den)) / Int64(max(1, sample.timeBase.num))
        return [sample.pts, sample.dts, sample.duration].allSatisfy { $0.magnitude <= limit.magnitude }
    }

    /// Throws if a track's timestamps jump back, or forward by more than the longest accepted gap. `isPaged`: whether
    /// the file is Ogg, whose timestamps restart where files were concatenated.
    static func checkStep(
        from: MediaTime, to: MediaTime, track: AssetTrack, isPaged: Bool = false
    ) throws {
        if isPaged, from - to > backstep {
            throw MediaError.joined(track: track.reference, at: from, isSkippable: false)
        }
        if from - to > backstep { throw MediaError.discontinuity(track: track.reference, from: from, to: to) }
        let isInside = track.hasOwnDuration && to <= track.timeRange.end + backstep
        if to - from > (isInside ? longPause : pause) {
            throw MediaError.discontinuity(track: track.reference, from: from, to: to)
        }
    }
}
