/// How much is done to find out what a file's codecs are (`avformat_find_stream_info`).
public enum StreamDiscovery: Sendable {
    /// Some frames of each track are decoded.
    case decoding
    /// It was opened before, and what its codecs are need not be found out once more; where the header says all that
    /// reading needs (mp4, mov), nothing is decoded.
    case known
    /// The header is enough wherever there is one.
    case header
    /// The same, and packets are only counted: what large ones hold is not read.
    case counting

    func isEnough(in format: String) -> Bool {
        switch self {
        case .decoding: false
        case .known: format.hasPrefix("mov,")
        case .header, .counting: format.hasPrefix("mov,") || format.hasPrefix("matroska,")
        }
    }
}
