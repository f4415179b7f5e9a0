package import LibAV

extension AssetContents {
    /// Returns the presentation times of a video track's keyframes in order, at most `limit`. Keyframes before time
    /// zero are excluded. Reads packets until the limit is reached.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func keyFrameTimes(
        of track: AssetTrack, path: String, environment: SourceEnvironment, limit: Int
    ) throws -> [MediaTime] {
        let packets = try PacketSource(
            track: track, of: demuxer, path: path, environment: environment,
            discovery: demuxer.keyFrameDiscovery(of: track))
        packets.damage.setPolicy(.skip)
        var times: Set<MediaTime> = []
        while times.count < limit, let packet = try packets.next() {
            guard packet.isKey else { continue }
            let ticks = packet.pts != noTimestamp ? packet.pts : packet.dts
            guard ticks != noTimestamp else { continue }
            let time = MediaTime(ticks: ticks, timeBase: packets.timeBase) - timeZero
            if time >= .zero { times.insert(time) }
        }
        return times.sorted()
    }

    /// Returns for each of some ascending times the presentation time of the keyframe from which a video track is decoded for it;
    /// nil where there is none at or before it. Seeks to each time.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func keyFrameTimes(
        before times: [MediaTime], of track: AssetTrack, path: String, environment: SourceEnvironment
    ) throws -> [MediaTime?] {
        let packets = try PacketSource(
            track: track, of: demuxer, path: path, environment: environment,
            discovery: demuxer.keyFrameDiscovery(of: track))
        packets.damage.setPolicy(.skip)
        return try times.map { time in
            try packets.restart(from: (time + timeZero).ticks(in: packets.timeBase, rounding: .down))
            while let packet = try packets.next() {
                guard packet.isKey, packet.pts != noTimestamp else { continue }
                let found = MediaTime(ticks: packet.pts, timeBase: packets.timeBase) - timeZero
                return found >= .zero && found <= time ? found : nil
            }
            return nil
        }
    }
}
