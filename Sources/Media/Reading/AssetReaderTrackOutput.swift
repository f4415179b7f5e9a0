/// Vends one track's samples in order (AVFoundation's `AVAssetReaderTrackOutput`): packets as they are, decoded frames, or audio.
///
/// Unchecked `Sendable`: it adds no state to its class.
public final class AssetReaderTrackOutput: AssetReaderOutput, @unchecked Sendable {
    /// An output of a track; add it to a reader before reading starts.
    public init(track: AssetTrack, settings: ReaderOutputSettings = .passthrough) {
        super.init(track, of: [track], settings: settings)
    }
}
