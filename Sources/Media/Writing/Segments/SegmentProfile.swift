/// The format of segments (`AVFileTypeProfile`).
public enum SegmentProfile: String, Hashable, Sendable, CaseIterable {
    /// Common Media Application Format (ISO/IEC 23000-19), for HLS and DASH: one track, brand `cmfc`.
    case cmaf
    /// Fragmented mp4 for HLS (RFC 8216): one or more tracks.
    case hls

    /// Brands of a media segment (`styp`), the major brand first.
    var brands: [String] {
        switch self {
        case .cmaf: ["msdh", "cmfs"]
        case .hls: ["msdh"]
        }
    }

    /// Options of the mov muxer for the profile. An edit list hides the delay of reordered frames and of audio encoders.
    /// Negative composition offsets are not an alternative: libavformat 5.1 reads wrong times from them in fragments.
    var movFlags: String {
        "+delay_moov+frag_custom+default_base_moof+skip_trailer"
            + (self == .cmaf ? "+cmaf" : "")
    }
}
