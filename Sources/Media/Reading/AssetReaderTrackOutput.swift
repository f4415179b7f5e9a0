// Unchecked `Sendable`: the class adds no state.
/// Vends one track's samples in order (AVFoundation's `AVAssetReaderTrackOutput`): packets, decoded frames, or decoded
/// audio.
public final class AssetReaderTrackOutput: AssetReaderOutput, @unchecked Sendable {
    /// Creates an output of a track; add it to a reader before reading starts.
    public init(track: AssetTrack, settings: ReaderOutputSettings = .passthrough) {
        super.init(track, of: [track], settings: settings)
    }
}
