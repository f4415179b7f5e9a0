internal import LibAV

/// Dynamic range of video, by HLS's names.
enum VideoRange: String {
    case sdr = "SDR"
    case hlg = "HLG"
    case pq = "PQ"

    /// Determines the range from the transfer function.
    init(_ color: ColorDescription) {
        self =
            switch color.transfer {
            case ColorDescription.pq: .pq
            case ColorDescription.hlg: .hlg
            default: .sdr
            }
    }
}
