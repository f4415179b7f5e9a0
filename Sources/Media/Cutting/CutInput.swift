internal import LibAV

/// What a part of a cut is made of: packets and frames of a file's track, or frames alone.
struct CutInput {
    /// A track whose packets can be taken as they are.
    struct Packets {
        let track: AssetTrack
        /// Time zero on the file's own clock.
        let timeZero: MediaTime
        let bitstream: CutBitstream
        /// Opens the file once more, at a place of its own, and goes to a time on the asset's time line.
        let open: (MediaTime) throws -> PacketSource
    }
    /// Nil where there are no packets.
    let packets: Packets?
    /// Decoded frames of a stretch of the time line, as an encoder of the edges takes them.
    let frames: (TimeRange) throws -> any SampleProducer
    /// What it is called in errors.
    let label: String
    /// Has an error say of what it is.
    var told: (any Error) -> any Error = { $0 }
}
