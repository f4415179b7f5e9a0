internal import LibAV

/// Finds still images in order and converts them; a repeated frame is converted once. Confined to one queue.
final class StillSearch {
    private let track: AssetTrack
    private let reader: StillReader
    private let converter: StillConverter
    private let isCancelled: @Sendable () -> Bool
    private var shown: (image: PixelBuffer, time: MediaTime)?

    init(
        track: AssetTrack, reader: StillReader, converter: StillConverter,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.track = track
        self.reader = reader
        self.converter = converter
        self.isCancelled = isCancelled
    }

    /// Returns the time of the keyframe from which a time's frame is decoded; nil without a complete index.
    func keyFrame(for time: MediaTime) -> Int64? { reader.keyFrame(for: time) }

    /// Returns the still image for a time.
    func still(at time: MediaTime) throws -> StillImage {
        if isCancelled() { throw CancellationError() }
        guard let still = try reader.still(at: time) else {
            throw MediaError.noSamples(track: track.label)
        }
        let actual = still.time
        if let shown, shown.time == actual {
            return StillImage(
                image: shown.image, requestedTime: time, actualTime: actual, isRepeated: true)
        }
        let image = try PixelBuffer(reading: try converter.convert(try still.frame.reference(), at: actual))
        shown = (image, actual)
        return StillImage(image: image, requestedTime: time, actualTime: actual, isRepeated: false)
    }
}
