internal import LibAV

/// What time stamps of a source may be; everything from outside is hostile until checked.
enum TimeBounds {
    /// Seconds, either way: far more than any file, far less than what overflows.
    private static let seconds: Int64 = 1_000_000_000
    /// A pause this long is believed.
    static let pause = MediaTime(value: 600, timescale: 1)
    /// A pause this long is believed inside what the container says is the track.
    static let longPause = MediaTime(value: 6 * 3600, timescale: 1)
    /// How far a clock may go back: reordering and rounding, no more.
    static let backstep = MediaTime(value: 1, timescale: 1)

    /// A packet's times are within bounds. `noTimestamp` is no time.
    static func holds(_ packet: borrowing Packet, timeBase: Rational) -> Bool {
        let limit = seconds * Int64(max(1, timeBase.den)) / Int64(max(1, timeBase.num))
        func isFine(_ time: Int64) -> Bool { time == noTimestamp || time.magnitude <= limit.magnitude }
        return isFine(packet.pts) && isFine(packet.dts) && packet.duration >= 0 && packet.duration <= limit
    }

    /// Throws where a track's clock jumps from one time to another in a way that no real pause explains.
    /// `isPaged`: in an Ogg file, whose clock begins anew where files were joined.
    static func checkStep(
        from: MediaTime, to: MediaTime, track: AssetTrack, isPaged: Bool = false
    ) throws {
        if isPaged, from - to > backstep {
            throw MediaError.joined(track: track.label, at: from, isSkippable: false)
        }
        if from - to > backstep { throw MediaError.discontinuity(track: track.label, from: from, to: to) }
        let isInside = track.hasOwnDuration && to <= track.timeRange.end + backstep
        if to - from > (isInside ? longPause : pause) {
            throw MediaError.discontinuity(track: track.label, from: from, to: to)
        }
    }
}
