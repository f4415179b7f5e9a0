public import LibAV

/// The kind of a segment (`AVAssetSegmentType`).
public enum AssetSegmentType: String, Hashable, Sendable {
    /// Headers of all tracks (`ftyp`, `moov`), which players require before any media segment.
    case initialization
    /// Samples (`styp`, `moof`, `mdat`, or a part of a transport stream), which can be decoded with the initialization
    /// segment only.
    case separable
}

/// Description of a segment (`AVAssetSegmentReport`).
public struct AssetSegmentReport: Hashable, Sendable {
    /// Kind of the segment.
    public let segmentType: AssetSegmentType
    /// Tracks with samples in the segment, in track order; empty for the initialization segment.
    public let trackReports: [AssetSegmentTrackReport]
}

/// Description of a track's samples in a segment (`AVAssetSegmentTrackReport`).
public struct AssetSegmentTrackReport: Hashable, Sendable {
    /// Track id in the segments, from 1 on.
    public let trackID: Int
    /// Media type of the track.
    public let mediaType: MediaType
    /// Earliest presentation time of the samples. Audio begins with the encoder delay, before the time of the first
    /// segment.
    public let earliestPresentationTime: MediaTime
    /// Sum of the samples' durations. The decoding time of a segment (`tfdt`) is that of the first segment, and the
    /// durations of all segments in between.
    public let duration: MediaTime
    /// Presentation time at which the last sample ends, which differs from the earliest time and the sum of durations if
    /// frames are reordered or irregular.
    package let presentationEnd: MediaTime
    /// Number of samples (packets).
    public let sampleCount: Int
    /// Whether decoding can start at the first sample.
    public let startsWithKeyframe: Bool
    /// First sample of a video track; nil for other tracks.
    public let firstVideoSample: AssetSegmentSample?
}

/// Location of a video sample in a segment (`AVAssetSegmentReportSampleInformation`), such as a keyframe for playlists
/// of keyframes only.
public struct AssetSegmentSample: Hashable, Sendable {
    /// Presentation time of the sample.
    public let presentationTime: MediaTime
    /// Offset in the segment, in bytes; in a transport stream, of the first transport packet.
    public let offset: Int
    /// Size in bytes; in a transport stream, of all its transport packets.
    public let length: Int
    /// Whether decoding can start at the sample.
    public let isKeyframe: Bool
}
