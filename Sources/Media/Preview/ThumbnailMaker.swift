internal import FoundationEssentials
internal import LibAV

/// Generates small upright images of a track's frames for reports (AVFoundation's `AVAssetImageGenerator`).
package struct ThumbnailMaker: Sendable {
    private let asset: Asset
    private let track: AssetTrack
    private let box: PixelSize
    private let isCancelled: @Sendable () -> Bool

    /// Creates a generator for a video track, with images no larger than `box`; `isCancelled` is called repeatedly
    /// while an image is generated.
    package init(
        asset: Asset, track: AssetTrack, box: PixelSize,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.track = track
        self.box = box
        self.isCancelled = isCancelled
    }

    /// Returns the image at a time; nil outside the track.
    package func thumbnail(at time: MediaTime) throws -> Thumbnail? {
        guard time >= track.timeRange.start, time < track.timeRange.end,
            let format = PixelFormat(named: "yuvj420p"),
            let settings = VideoOutputSettings.stillImage(of: track, as: format, within: box)
        else { return nil }
        let generator = AssetImageGenerator(
            asset: asset, track: track, settings: settings, isCancelled: isCancelled)
        var thumbnail: Thumbnail?
        try generator.images(at: [time]) { generated in
            let image = generated.image
            var configuration = EncoderConfiguration(
                encoder: "mjpeg", mediaType: .video, timeBase: Rational(1, 25))
            (configuration.width, configuration.height) = (image.width, image.height)
            configuration.pixelFormat = image.pixelFormat
            configuration.fixedQuantizer = 6
            let encoder = try StillImageEncoder(configuration, limits: asset.environment.sources.limits)
            let jpeg = try encoder.encode(image) { Data($0) }
            thumbnail = Thumbnail(time: time, width: image.width, height: image.height, jpeg: jpeg)
        }
        return thumbnail
    }
}
