package import LibAV

extension AssetContents {
    /// Returns the presentation times of a video track's keyframes in order, at most `limit`. Keyframes before time
    /// zero are excluded. Reads packets until the limit is reached.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func keyFrameTimes(
        of track: AssetTrack, path: String, environment: SourceEnvironment, limit: Int
    ) throws -> [MediaTime] {
        let packets = try PacketSource(
            track: track, of: DemuxerModel.named(container), path: path, environment: environment)
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
}
