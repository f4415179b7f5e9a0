internal import LibAV

/// How long an output becomes with each packet, before the muxer says so: its framing and what the index at the end needs
/// for it. An upper bound, near the truth: libavformat's muxers write what they need only once it is too late.
struct OutputSizeModel {
    /// What the model must know of a track.
    struct Track {
        var mediaType: MediaType
        /// The codec's libav name.
        var codec: String
        /// Bytes of the codec's own header.
        var headerSize: Int
    }

    /// Containers whose framing is alike.
    enum Family: Sendable { case movie, matroska, transport, ogg, other }

    /// The last packet's times of a track: an index has an entry for each change.
    private struct Memory {
        var dts: Int64?
        var step: Int64?
        var offset: Int64?
    }

    private let family: Family
    private let tracks: [Track]
    private var memories: [Memory]
    private var lastTrack: Int?
    private var lastSecond = Int64.min

    init(container: ContainerType, tracks: [Track]) {
        family = container.framing
        self.tracks = tracks
        memories = tracks.map { _ in Memory() }
    }

    /// Bytes of everything that is no packet's, beside what the header already wrote.
    func fixed(tags: [MetadataEntry], chapters: [AssetChapter], covers: [CoverArt]) -> Int64 {
        let text = tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
        // Where chapters are a track, each is a sample, and stands in a list beside it.
        let marks = chapters.reduce(0) { $0 + 2 * ($1.title?.utf8.count ?? 0) + 160 }
        let pictures = covers.reduce(0) { $0 + $1.bytes.count + 128 }
        let own = tracks.reduce(0) { $0 + 2 * $1.headerSize }
        let bytes =
            switch family {
            case .movie:
                2048 + 1400 * tracks.count + own + text + marks + (chapters.isEmpty ? 0 : 1024) + pictures
            case .matroska: 1024 + 200 * tracks.count + text + marks
            case .transport: 2048 + 600 * tracks.count
            case .ogg: 1024 + text
            case .other: (tracks.first?.mediaType == .subtitle ? 256 : 4096) + own + text + marks + pictures
            }
        return Int64(bytes)
    }

    /// Bytes that the output grows by with a packet of a track; packets come in the order in which they are written.
    mutating func cost(of packet: borrowing Packet, track index: Int, at second: Int64) -> Int64 {
        let track = tracks[index]
        let size = packet.size
        let isNewSecond = second > lastSecond
        if isNewSecond { lastSecond = second }
        let isNewRun = lastTrack != index
        lastTrack = index
        switch family {
        case .movie:
            // stsz, stss and sdtp; stts and ctts where a run ends; stco and stsc where a chunk begins.
            var bytes = size + 4 + (isNewRun || isNewSecond ? 20 : 0)
            if track.mediaType == .video { bytes += 1 + (packet.isKey ? 4 : 0) + growth(size) }
            return Int64(bytes + 8 * changes(packet, of: index))
        case .matroska:
            var bytes = size + (track.mediaType == .subtitle ? 96 : 16) + (isNewSecond ? 100 : 0)
            if track.mediaType == .video { bytes += growth(size) + (packet.isKey ? 100 : 0) }
            let beside = packet.sideDataSize
            return Int64(bytes + (beside > 0 ? beside + 48 : 0))
        case .transport:
            let tables = isNewSecond ? 24 * 188 + soundFrames * 210 : 0
            if track.mediaType == .audio {
                // Several packets share a frame of the elementary stream.
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

    /// Frames of the elementary streams of audio that begin in a second, at least.
    private var soundFrames: Int {
        tracks.reduce(0) { $0 + ($1.mediaType == .audio ? BitstreamTraits.of($1.codec).packetsASecond : 0) }
    }

    /// Start codes of three bytes become lengths of four, and the other way round.
    private func growth(_ size: Int) -> Int { 8 + size / 1000 }

    /// How many of the lists of steps and of offsets get another entry.
    private mutating func changes(_ packet: borrowing Packet, of index: Int) -> Int {
        let (pts, dts) = (packet.pts, packet.dts)
        let before = memories[index]
        let step = before.dts.map { dts - $0 }
        memories[index] = Memory(dts: dts, step: step, offset: pts - dts)
        return (step == before.step ? 0 : 1) + (pts - dts == before.offset ? 0 : 1)
    }
}
