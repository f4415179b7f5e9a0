internal import LibAV

/// The search for the active area of a video track: the part of its frames within black borders.
///
/// Of a track of at most 30 s, the frame at each time of its nominal frame rate is examined. Of a longer one, keyframes near 64 evenly distributed times are
/// examined; if the track has less than 32 keyframes there, the frames at these times, for which the whole track may be
/// decoded.
package struct ActiveAreaScan: Sendable {
    private static let sampleCount = 64
    private static let minKeyframes = 32
    private static let wholeSeconds = 30.0
    /// Assumed frame rate of tracks that state none.
    private static let defaultFrameRate = Rational(25, 1)

    private let asset: Asset
    private let track: AssetTrack

    package init(asset: Asset, track: AssetTrack) {
        self.asset = asset
        self.track = track
    }

    /// The active area of the frames examined so far.
    private struct Examined: ~Copyable {
        var detector: BorderDetector?
        /// Size of the frames. As for an encoder, all frames of a track are scaled to the size that it states.
        var size = PixelSize(width: 0, height: 0)
        /// Number of frames.
        var count = 0

        mutating func add(_ still: StillImage) throws {
            if still.isRepeated { return }
            let frame = try still.image.reference()
            if detector == nil {
                size = PixelSize(width: frame.width, height: frame.height)
                detector = try BorderDetector.open(like: frame)
            }
            count += 1
            try detector?.add(frame)
        }
    }

    /// Returns the smallest rectangle of the coded frame that contains the active area of each examined frame, aligned to
    /// chroma samples; nil if all of them are black. Damaged frames are skipped.
    /// - Throws: `MediaError` if the source can't be read.
    package func area() throws -> PixelRectangle? {
        var examined = Examined()
        let seconds = track.timeRange.duration.seconds
        if seconds <= Self.wholeSeconds {
            let rate = track.nominalFrameRate ?? Self.defaultFrameRate
            let count = Int((max(0, seconds) * min(rate.double, 240)).rounded(.up))
            try scan(times(count), .exact, &examined)
        } else {
            try scan(times(Self.sampleCount), .keyFrame, &examined)
            if examined.count < Self.minKeyframes { try scan(times(Self.sampleCount), .exact, &examined) }
        }
        guard let area = examined.detector?.area else { return nil }
        return aligned(area, in: examined.size)
    }

    /// Returns evenly distributed times in the track.
    private func times(_ count: Int) -> [MediaTime] {
        let range = track.timeRange
        return (0..<max(1, count)).map { index in
            range.start
                + range.duration.multiplied(by: Int64(2 * index + 1), dividedBy: Int64(2 * max(1, count)))
        }
    }

    private func scan(
        _ times: [MediaTime], _ tolerance: ImageTolerance, _ examined: inout Examined
    ) throws {
        let generator = AssetImageGenerator(
            asset: asset, track: track, tolerance: tolerance, damagePolicy: .skip)
        try generator.images(at: times) { try examined.add($0) }
    }

    /// Returns the rectangle that contains an area and consists of whole chroma samples, of both fields in interlaced
    /// frames.
    private func aligned(_ area: BorderDetector.Area, in size: PixelSize) -> PixelRectangle {
        let unit = track.format.pixelFormat.chromaSubsampling
        let (unitX, unitY) = (unit.x, unit.y * (track.format.isInterlaced == true ? 2 : 1))
        let (left, top) = (area.left / unitX * unitX, area.top / unitY * unitY)
        let right = min(size.width, (area.right + unitX - 1) / unitX * unitX)
        let bottom = min(size.height, (area.bottom + unitY - 1) / unitY * unitY)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }
}
