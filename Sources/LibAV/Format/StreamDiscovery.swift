/// The method for determining a file's codec parameters (`avformat_find_stream_info`).
package enum StreamDiscovery: Sendable {
    /// Decodes some frames of each track.
    case decoding
    /// Decodes nothing if the header contains everything that reading requires (mp4, mov): the codec parameters are
    /// known from an earlier probe.
    case known
    /// Decodes nothing if the header contains the codec parameters (mp4, mov, Matroska).
    case header
    /// Decodes as little as `header`. The data of large packets isn't read, since packets are only counted.
    case counting

    func isEnough(in container: DemuxerModel) -> Bool {
        switch self {
        case .decoding: false
        case .known: container.describesFramesInHeader
        case .header, .counting: container.describesTracksInHeader
        }
    }
}
