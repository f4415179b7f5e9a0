internal import LibAV

/// Input of a part of a cut: packets and frames of a file's track, or frames only.
struct CutInput {
    /// A track whose packets can be copied.
    struct Packets {
        let track: AssetTrack
        /// Position of time zero on the file's own time line.
        let timeZero: MediaTime
        let bitstream: CutBitstream
        /// Opens the file with a demuxer of its own, and seeks to a time on the asset's time line.
        let open: (MediaTime) throws -> PacketSource
    }
    /// Nil if there are no packets to copy.
    let packets: Packets?
    /// Returns the decoded frames of a section of the time line, as input for the edge encoder.
    let frames: (TimeRange) throws -> any SampleProducer
    /// Label of the track in errors.
    let reference: TrackReference
    /// Adds the source's name to an error.
    var mapError: (any Error) -> any Error = { $0 }
}
