internal import LibAV

/// The format of segments (`AVFileTypeProfile`).
public enum SegmentProfile: String, Hashable, Sendable, CaseIterable {
    /// Common Media Application Format (ISO/IEC 23000-19), for HLS and DASH: one track, brand `cmfc`.
    case cmaf
    /// Fragmented mp4 for HLS (RFC 8216): one or more tracks.
    case hls
    /// MPEG transport streams for HLS (RFC 8216, 3.2): one or more tracks, without an initialization segment. AVFoundation has
    /// no equivalent.
    case transportStream

    /// Container of the segments.
    var container: ContainerType { self == .transportStream ? .transportStream : .mp4 }

    /// Whether an initialization segment precedes the media segments.
    var hasInitialization: Bool { self != .transportStream }

    /// Time that the muxer adds to all timestamps of segments: in MPEG transport streams, decoding times and clock references
    /// precede the presentation time 0.
    package var timestampOffset: MediaTime {
        self == .transportStream ? MediaTime(value: 2 * Int64(Muxer.maxDelay), timescale: 1_000_000) : .zero
    }

    /// Brands of a media segment in mp4 (`styp`), the major brand first.
    var brands: [String] {
        switch self {
        case .cmaf: ["msdh", "cmfs"]
        case .hls, .transportStream: ["msdh"]
        }
    }

    /// Options of the mov muxer for the profile. An edit list hides the delay of reordered frames and of audio encoders.
    /// Negative composition offsets are not an alternative: libavformat 5.1 reads wrong times from them in fragments.
    var movFlags: String {
        "+delay_moov+frag_custom+default_base_moof+skip_trailer"
            + (self == .cmaf ? "+cmaf" : "")
    }
}
