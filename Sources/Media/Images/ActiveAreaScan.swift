internal import LibAV

/// The search for the active area of a video track: the part of its frames within black borders.
///
/// All frames of a track of at most 30 s are examined. Of a longer one, keyframes near 64 evenly distributed times are
/// examined; if the track has less than 32 keyframes there, the frames at these times, for which the whole track may be
/// decoded.
package struct ActiveAreaScan: Sendable {
    private static let sampleCount = 64
    private static let minKeyframes = 32
    private static let wholeSeconds = 30.0

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

        mutating func add(_ frame: consuming Frame) throws {
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
        if track.timeRange.duration.seconds <= Self.wholeSeconds {
            try scanAll(&examined)
        } else {
            try scan(.keyFrame, &examined)
            if examined.count < Self.minKeyframes { try scan(.exact, &examined) }
        }
        guard let area = examined.detector?.area else { return nil }
        return aligned(area, in: examined.size)
    }

    /// Examines all frames.
    private func scanAll(_ examined: inout Examined) throws {
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(VideoOutputSettings()),
            extent: ReadingExtent(damagePolicy: .skip))
        try samples.start()
        defer { samples.cancel() }
        while let sample = try samples.next() {
            try examined.add(try sample.pixelBuffer().reference())
        }
    }

    /// Examines the frames at evenly distributed times.
    private func scan(_ tolerance: ImageTolerance, _ examined: inout Examined) throws {
        let range = track.timeRange
        let times = (0..<Self.sampleCount).map { index in
            range.start
                + range.duration.multiplied(
                    by: Int64(2 * index + 1), dividedBy: Int64(2 * Self.sampleCount))
        }
        let generator = AssetImageGenerator(
            asset: asset, track: track, tolerance: tolerance, damagePolicy: .skip)
        try generator.images(at: times) { still in
            if !still.isRepeated { try examined.add(try still.image.reference()) }
        }
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
