internal import LibAV

/// Vends several tracks' frames as one (AVFoundation's `AVAssetReaderVideoCompositionOutput`): each in its place on a canvas, at the
/// canvas's frame rate.
///
/// Unchecked `Sendable`: it adds no state to its class but what never changes.
public final class AssetReaderVideoCompositionOutput: AssetReaderOutput, @unchecked Sendable {
    /// How the tracks become one.
    public let videoComposition: VideoComposition

    /// An output of composed frames; add it to a reader before reading starts. It decodes for itself, also where other outputs of the
    /// reader share decoders.
    ///
    /// - Parameters:
    ///   - tracks: of one asset; those that the composition doesn't name are not read.
    ///   - videoComposition: how they become one.
    ///   - settings: what is done to the composed frames.
    /// - Throws: `MediaError.misuse` of a composition of no track, of one that is not among the tracks or has no frames, and of one that
    ///   makes no sense.
    public init(
        tracks: [AssetTrack], videoComposition: VideoComposition,
        settings: VideoOutputSettings = VideoOutputSettings()
    ) throws {
        let read = try videoComposition.inputs.map { input in
            try Self.find(input.track, in: tracks, .video)
        }
        guard !read.isEmpty else { throw MediaError.misuse("a composition needs a track") }
        let track = try videoComposition.composedTrack(of: read)
        self.videoComposition = videoComposition
        super.init(track, of: read, settings: .video(settings), composing: videoComposition)
    }
}
