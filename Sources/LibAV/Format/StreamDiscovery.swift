/// The effort for determining a file's codec parameters (`avformat_find_stream_info`).
public enum StreamDiscovery: Sendable {
    /// Decodes some frames of each track.
    case decoding
    /// The codec parameters are known from an earlier probe. Nothing is decoded if the header contains all
    /// that reading requires (mp4, mov).
    case known
    /// Decodes nothing if the container has a sufficient header.
    case header
    /// Decodes as little as `header`, and only counts packets: the data of large ones isn't read.
    case counting

    func isEnough(in format: String) -> Bool {
        switch self {
        case .decoding: false
        case .known: format.hasPrefix("mov,")
        case .header, .counting: format.hasPrefix("mov,") || format.hasPrefix("matroska,")
        }
    }
}
