internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the chunks in which a video track is encoded.
///
/// The length of a chunk follows from the encoding alone, so that the output doesn't depend on the machine: as many frames
/// as 256 MiB contain, because the frames of the chunks in progress are in memory, but at least 48, because each chunk
/// begins with a keyframe, and at most 250.
struct ChunkPlanner {
    let configuration: EncoderConfiguration
    /// Whether the bit rate will follow from a size of the file.
    var hasTargetSize = false
    /// Expected number of frames; nil if it is unknown.
    let frameCount: Int64?

    /// The chunks, and their description for the user.
    struct Chunks: Hashable {
        /// Length of a chunk in frames; nil if the track is encoded as a whole.
        var length: Int?
        /// Maximum number of chunks at a time; nil for the number of processors.
        var maximum: Int?
        /// Whether the parts of a submitted batch encode chunks.
        var isDistributed = false
        var description: String
    }

    /// Returns the chunks for a value of `parallel`, whose explicit numbers are already checked against the encoder.
    func decide(_ parallel: Parallelism) -> Chunks {
        switch parallel {
        case .off: return Chunks(description: "off")
        case .chunks(let count):
            return Chunks(
                length: length, maximum: count,
                description: "chunks of \(counted(length, "frame")), at most \(count) at a time")
        case .distributed:
            return Chunks(
                length: length, isDistributed: true,
                description: "chunks of \(counted(length, "frame")), distributed by `tandem submit`")
        case .automatic:
            if let obstacle { return Chunks(description: "off: \(obstacle)") }
            return Chunks(length: length, description: "chunks of \(counted(length, "frame"))")
        }
    }

    /// Minimum number of chunks with which `auto` divides a track.
    private static let minimumCount = 4

    /// The reason why `auto` encodes the track as a whole; nil if there is none.
    private var obstacle: String? {
        if configuration.model?.operation.chunkSettings == nil {
            return "\(configuration.encoder) doesn't support chunks"
        }
        if hasTargetSize || configuration.bitRate ?? 0 > 0 || configuration.maxBitRate != nil {
            return "a bit rate applies to the whole track"
        }
        let minimum = Int64(Self.minimumCount * length)
        guard let frameCount else { return "the number of frames is unknown" }
        if frameCount < minimum {
            return "the track has less than \(minimum) frames"
        }
        return nil
    }

    private var length: Int {
        let size = configuration.pixelFormat.frameSize(
            width: configuration.width, height: configuration.height)
        let length = min(250, max(48, (256 << 20) / max(1, size)))
        guard let interval = configuration.keyframeInterval, interval <= length else { return length }
        return length / max(1, interval) * max(1, interval)
    }
}
