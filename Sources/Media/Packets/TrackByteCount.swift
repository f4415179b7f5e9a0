package import LibAV

extension AssetContents {
    /// Returns the size of a track's packets in bytes. Reads all packets of the track.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func byteCount(
        of track: AssetTrack, path: String, environment: SourceEnvironment
    ) throws -> Int64 {
        let packets = try PacketSource(
            track: track, of: DemuxerModel.named(container), path: path, environment: environment)
        packets.damage.setPolicy(.skip)
        var count: Int64 = 0
        while let packet = try packets.next() { count = count.adding(upToLimit: Int64(packet.size)) }
        return count
    }
}
