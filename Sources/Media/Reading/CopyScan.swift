public import LibAV

/// Whether a range of a track of pictures can be taken as packets, by reading its packets up to the range's end.
public enum CopyScan {
    /// What stands against it.
    public enum Problem: Hashable, Sendable {
        /// It must begin at a key frame; the nearest ones around, where there are any.
        case startsInsideGroup(before: MediaTime?, after: MediaTime?)
        /// Pictures before the start are needed after it (open GOP).
        case hasLeadingPictures
        /// Pictures at the end refer to ones past it; the next clean end.
        case endsInsideGroup(next: MediaTime?)
    }

    /// Looks at a track of a file. Nil: the range can be copied.
    public static func problem(
        path: String, track: AssetTrack, timeZero: MediaTime, range: TimeRange,
        limits: InputLimits = InputLimits()
    ) throws -> Problem? {
        let demuxer = try Demuxer.open(path: path, limits: limits)
        demuxer.select([track.index])
        let tick = AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, start: range.start)
        let zero = timeZero.ticks(in: tick)
        let start = range.start.ticks(in: tick)
        let end = range.end.ticks(in: tick, rounding: .up)
        var scan = State(start: start, end: end)
        let packet = try Packet()
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.index, packet.pts != noTimestamp else { continue }
            let isLast = scan.take(
                time: track.timeBase.rescale(packet.pts, to: tick) - zero, isKey: packet.isKey)
            if isLast { break }
        }
        return scan.problem { MediaTime(ticks: $0, timeBase: tick) }
    }

    private struct State {
        let start: Int64
        let end: Int64
        var before: Int64?
        var after: Int64?
        var hasStart = false
        var leads = false
        var isPast = false
        var returns = false
        var nextCleanEnd: Int64?

        /// True when nothing more can change the answer.
        mutating func take(time: Int64, isKey: Bool) -> Bool {
            if isKey {
                if time < start { before = max(before ?? time, time) }
                if time > start, after == nil { after = time }
                if time == start { hasStart = true }
                if isPast, time > end, nextCleanEnd == nil { nextCleanEnd = time }
            }
            if hasStart, time < start { leads = true }
            if time >= end { isPast = true } else if isPast { returns = true }
            // A key frame past both ends closes the matter.
            return isPast && isKey && time > end && (hasStart || after != nil)
        }

        func problem(_ time: (Int64) -> MediaTime) -> Problem? {
            if start > 0 || before != nil, !hasStart {
                return .startsInsideGroup(before: before.map(time), after: after.map(time))
            }
            if leads, start > 0 { return .hasLeadingPictures }
            if returns { return .endsInsideGroup(next: nextCleanEnd.map(time)) }
            return nil
        }
    }
}
