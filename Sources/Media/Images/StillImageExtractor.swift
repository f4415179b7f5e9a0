internal import LibAV

/// Finds and converts the still images for given times; a frame that is repeated in succession is converted once.
/// Confined to one queue.
final class StillImageExtractor {
    private let track: AssetTrack
    private let reader: FrameFinder
    private let converter: StillImageConverter
    private let isCancelled: @Sendable () -> Bool
    private var shown: (image: PixelBuffer, time: MediaTime)?

    init(
        track: AssetTrack, reader: FrameFinder, converter: StillImageConverter,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.track = track
        self.reader = reader
        self.converter = converter
        self.isCancelled = isCancelled
    }

    /// Returns the time of the keyframe from which a time's frame is decoded; nil without a complete index.
    func keyFrame(for time: MediaTime) -> Int64? { reader.keyFrame(for: time) }

    func image(at time: MediaTime) throws -> StillImage {
        if isCancelled() { throw CancellationError() }
        guard let found = try reader.frame(at: time) else {
            throw MediaError.noSamples(track: track.reference)
        }
        let actual = found.time
        if let shown, shown.time == actual {
            return StillImage(
                image: shown.image, requestedTime: time, actualTime: actual, isRepeated: true)
        }
        let image = try PixelBuffer(reading: try converter.convert(try found.frame.reference(), at: actual))
        shown = (image, actual)
        return StillImage(image: image, requestedTime: time, actualTime: actual, isRepeated: false)
    }
}
