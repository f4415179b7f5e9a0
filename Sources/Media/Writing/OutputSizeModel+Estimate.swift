package import LibAV

/// A track whose packets aren't known yet, for an estimate of the container's overhead.
package struct PredictedTrack: Sendable {
    /// Type of the track.
    package var mediaType: MediaType
    /// Number of packets.
    package var packets: Double
    /// Size of the packets in bytes.
    package var bytes: Double

    package init(mediaType: MediaType, packets: Double, bytes: Double) {
        self.mediaType = mediaType
        self.packets = packets
        self.bytes = bytes
    }
}

extension ContainerType {
    /// Returns an estimate of the bytes that the container adds to the packets of some tracks: headers, index and framing.
    /// In most cases, the actual number is smaller. `fragments` is the number of fragments; 0 for an unfragmented file.
    package func overhead(of tracks: [PredictedTrack], seconds: Double, fragments: Double) -> Double {
        switch model.framing {
        case .movie:
            // `stsz`, `ctts` and `stss`, and a chunk at each change of the track.
            let slowest = tracks.map(\.packets).min() ?? 0
            let chunks =
                tracks.count > 1
                ? tracks.reduce(0) { $0 + min($1.packets, 2 * slowest + seconds) } : seconds
            let perPacket = tracks.reduce(0) { $0 + $1.packets * ($1.mediaType == .video ? 12 : 4) }
            let fragmented = fragments * (100 + 120 * Double(tracks.count))
            return 1000 + 500 * Double(tracks.count) + perPacket + chunks * 5 + fragmented
        case .matroska:
            let perPacket = tracks.reduce(0) { $0 + $1.packets * ($1.mediaType == .subtitle ? 96 : 10) }
            return 1024 + 200 * Double(tracks.count) + perPacket + seconds * 60
        case .transport:
            // Cells of 188 bytes with 184 of data, the last of which is padded; PES headers and tables.
            let data = tracks.reduce(0) { $0 + $1.bytes / 184 * 4 }
            let packets = tracks.reduce(0) { $0 + $1.packets * ($1.mediaType == .video ? 110 : 40) }
            return 2048 + 600 * Double(tracks.count) + data + packets + seconds * 12 * 188
        case .ogg: return 1024 + tracks.reduce(0) { $0 + $1.bytes / 200 + $1.packets } + seconds * 60
        case .other: return 4096 + tracks.reduce(0) { $0 + $1.packets * 8 }
        }
    }
}
