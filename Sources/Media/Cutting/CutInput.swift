internal import LibAV

/// Input of a part of a cut: packets and frames of a file's track, or frames only.
struct CutInput {
    /// A track whose packets can be copied.
    struct Packets {
        let track: AssetTrack
        /// Timestamp in the file that corresponds to time zero of the asset.
        let timeZero: MediaTime
        let bitstream: CutBitstream
        /// Opens the file with a separate demuxer, and seeks to a time on the asset's time line.
        let open: (MediaTime) throws -> PacketSource
    }
    /// The packets to copy; nil for an encoded section of a composition.
    let packets: Packets?
    /// Returns a producer of the decoded frames in a time range, as input for the edge encoder.
    let frames: (TimeRange) throws -> any SampleProducer
    /// Label of the track in errors.
    let reference: TrackReference
    /// Adds the source's name to an error.
    var mapError: (any Error) -> any Error = { $0 }
}
