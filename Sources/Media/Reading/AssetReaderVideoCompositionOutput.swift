internal import LibAV

// Unchecked `Sendable`: the class adds only immutable state.
/// Vends the composed frames of several tracks (AVFoundation's `AVAssetReaderVideoCompositionOutput`): each track is
/// placed on a canvas, at the canvas's frame rate.
public final class AssetReaderVideoCompositionOutput: AssetReaderOutput, @unchecked Sendable {
    /// Canvas, and layout of the tracks on it.
    public let videoComposition: VideoComposition

    /// Creates an output of composed frames; add it to a reader before reading starts. It never shares decoders with
    /// the reader's other outputs.
    ///
    /// - Parameters:
    ///   - tracks: tracks of one asset; only the composition's tracks are read.
    ///   - videoComposition: canvas, and position of each track on it.
    ///   - settings: conversion of the composed frames.
    /// - Throws: `MediaError.invalidArgument` for a composition without tracks, with a track that is not among `tracks` or has
    ///   no video, or with invalid values.
    public init(
        tracks: [AssetTrack], videoComposition: VideoComposition,
        settings: VideoOutputSettings = VideoOutputSettings()
    ) throws {
        let read = try videoComposition.inputs.map { input in
            try Self.find(input.track, in: tracks, .video)
        }
        guard !read.isEmpty else { throw MediaError.invalidArgument("a composition requires a track") }
        let track = try videoComposition.composedTrack(of: read.map(\.description))
        self.videoComposition = videoComposition
        super.init(track, of: read, settings: .video(settings), composing: videoComposition)
    }
}
