internal import LibAV

/// Estimate of an output's size, updated with each packet: framing, and the entries in the index at the end. The
/// estimate is an upper bound close to the actual size; libavformat's muxers report the size only after writing.
struct OutputSizeModel {
    /// Properties of a track that the model requires.
    struct Track {
        var mediaType: MediaType
        /// libavcodec's name of the codec.
        var codec: String
        /// Size of the codec's extradata in bytes.
        var headerSize: Int
    }

    /// Containers with similar framing.
    enum Family: Sendable { case movie, matroska, transport, ogg, other }

    /// Times of a track's last packet. An index has an entry for each change of duration or composition offset.
    private struct PacketTimes {
        var dts: Int64?
        var step: Int64?
        var offset: Int64?
    }

    private let family: Family
    private let tracks: [Track]
    private var lastTimes: [PacketTimes]
    private var lastTrack: Int?
    private var lastSecond = Int64.min

    init(container: ContainerType, tracks: [Track]) {
        family = container.model.framing
        self.tracks = tracks
        lastTimes = tracks.map { _ in PacketTimes() }
    }

    /// Returns the size of everything outside packets, in addition to the header already written. `written` is the size
    /// of that header in bytes.
    func fixed(
        tags: [MetadataEntry], chapters: [AssetChapter], covers: [CoverArt], written: Int64
    ) -> Int64 {
        let text = tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
        // In a container with a chapter track, each chapter is a sample and also an entry in a list.
        let marks = chapters.reduce(0) { $0 + 2 * ($1.title?.utf8.count ?? 0) + 160 }
        let coverBytes = covers.reduce(0) { $0 + $1.bytes.count + 128 }
        let own = tracks.reduce(0) { $0 + 2 * $1.headerSize }
        let bytes =
            switch family {
            case .movie:
                2048 + 1400 * tracks.count + own + text + marks + (chapters.isEmpty ? 0 : 1024) + coverBytes
            case .matroska: 1024 + 200 * tracks.count + text + marks
            case .transport: 2048 + 600 * tracks.count
            case .ogg: 1024 + text
            case .other:
                (tracks.first?.mediaType == .subtitle ? 256 : 4096) + own + text + marks
                    // In these containers, covers precede the packets, and `written` usually includes them.
                    + (written >= coverBytes ? 0 : coverBytes)
            }
        return Int64(bytes)
    }

    /// Returns the number of bytes that a packet adds to the output. Packets must be passed in the order in which they
    /// are written; `second` is the packet's decoding time in seconds.
    mutating func cost(of packet: borrowing Packet, track index: Int, at second: Int64) -> Int64 {
        let track = tracks[index]
        let size = packet.size
        let isNewSecond = second > lastSecond
        if isNewSecond { lastSecond = second }
        let isNewRun = lastTrack != index
        lastTrack = index
        switch family {
        case .movie:
            // `stsz`, `stss` and `sdtp`; `stts` and `ctts` at each change; `stco` and `stsc` at the start of a chunk.
            var bytes = size + 4 + (isNewRun || isNewSecond ? 20 : 0)
            if track.mediaType == .video { bytes += 1 + (packet.isKey ? 4 : 0) + growth(size) }
            return Int64(bytes + 8 * changes(packet, of: index))
        case .matroska:
            var bytes = size + (track.mediaType == .subtitle ? 96 : 16) + (isNewSecond ? 100 : 0)
            if track.mediaType == .video { bytes += growth(size) + (packet.isKey ? 100 : 0) }
            let sideData = packet.sideDataSize
            return Int64(bytes + (sideData > 0 ? sideData + 48 : 0))
        case .transport:
            let tables = isNewSecond ? 24 * 188 + audioFrames * 210 : 0
            if track.mediaType == .audio {
                // Several packets share a PES packet.
                let framed = size + 7 + size / 255
                return Int64(framed + framed / 40 + framed * 240 / 2930 + 1 + tables)
            }
            let head = packet.isKey ? track.headerSize + 64 : 0
            let cells = (size + growth(size) + head + 48 + 183) / 184
            return Int64((cells + (packet.isKey ? 4 : 0)) * 188 + tables)
        case .ogg:
            let segments = size / 255 + 1
            return Int64(size + segments + segments * 28 / 255 + 1 + (isNewSecond ? 90 : 0))
        case .other: return Int64(size + (track.mediaType == .subtitle ? 64 : 8))
        }
    }

    /// Minimum number of audio PES packets that begin in a second.
    private var audioFrames: Int {
        tracks.reduce(0) { $0 + ($1.mediaType == .audio ? BitstreamTraits.of($1.codec).packetsASecond : 0) }
    }

    /// Returns the maximum growth of a packet, in which start codes of three bytes may be replaced by lengths of four
    /// bytes, or vice versa.
    private func growth(_ size: Int) -> Int { 8 + size / 1000 }

    /// Returns the number of new entries in the lists of durations and composition offsets.
    private mutating func changes(_ packet: borrowing Packet, of index: Int) -> Int {
        let (pts, dts) = (packet.pts, packet.dts)
        let before = lastTimes[index]
        let step = before.dts.map { dts - $0 }
        lastTimes[index] = PacketTimes(dts: dts, step: step, offset: pts - dts)
        return (step == before.step ? 0 : 1) + (pts - dts == before.offset ? 0 : 1)
    }
}
