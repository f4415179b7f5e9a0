internal import LibAV
package import Media

/// The container of a package's audio and video segments, by its name in job files.
package enum SegmentContainer: String, Codable, Hashable, Sendable, CaseIterable {
    /// Fragmented mp4 (CMAF), which HLS and DASH share.
    case mp4
    /// MPEG transport streams, for HLS.
    case ts

    /// Formats whose manifests can refer to the segments.
    package var formats: [StreamingFormat] {
        switch self {
        case .mp4: StreamingFormat.allCases
        case .ts: [.hls]
        }
    }

    /// Codecs in transport streams that HLS supports (RFC 8216bis, 3.1.1; Apple's authoring specification, 1.5 and 2.1), by
    /// FFmpeg's names. HEVC and newer codecs require mp4.
    private static let transportCodecs: Set<String> = ["h264", "aac", "mp3", "ac3", "eac3"]

    /// Returns whether players support a codec, by FFmpeg's name, in the segments.
    package func supports(codec: String) -> Bool {
        switch self {
        case .mp4: BitstreamTraits.of(codec).manifestString != nil
        case .ts: Self.transportCodecs.contains(codec)
        }
    }

    /// Profile of the writer of the segments.
    package var profile: SegmentProfile { self == .mp4 ? .cmaf : .transportStream }
}
