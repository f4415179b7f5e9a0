internal import FoundationEssentials
internal import LibAV

/// Makes small upright frames of moments of a track (AVFoundation's `AVAssetImageGenerator`, for what a report
/// shows).
public struct ThumbnailMaker: Sendable {
    private let asset: Asset
    private let track: AssetTrack
    private let box: PixelSize
    private let isCancelled: @Sendable () -> Bool

    /// A maker for a track of frames, none of them larger than `box`; `isCancelled` is asked while it works.
    public init(
        asset: Asset, track: AssetTrack, box: PixelSize,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.track = track
        self.box = box
        self.isCancelled = isCancelled
    }

    /// What is shown at a moment; nil where nothing is.
    public func thumbnail(at time: MediaTime) throws -> Thumbnail? {
        guard let settings, time >= track.timeRange.start, time < track.timeRange.end else { return nil }
        let moment = TimeRange(start: time, duration: MediaTime(value: 1, timescale: 1000))
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(settings), extent: ReadingExtent(moment),
            isCancelled: isCancelled)
        try samples.start()
        defer { samples.cancel() }
        guard let frame = try samples.next()?.takeFrame() else { return nil }
        let (width, height) = (frame.width, frame.height)
        return Thumbnail(time: time, width: width, height: height, jpeg: try Self.jpeg(frame))
    }

    /// How the decoder's frames become small; nil where a track says no size.
    private var settings: VideoOutputSettings? {
        guard let format = PixelFormat(named: "yuvj420p") else { return nil }
        var settings = VideoOutputSettings(pixelFormat: format)
        var (width, height) = track.format.presentationSize
        if let transform = track.preferredTransform, let degrees = transform.clockwiseDegrees,
            degrees != 0 || transform.isReflected
        {
            let turn = FrameRotation(clockwiseDegrees: degrees, isReflected: transform.isReflected)
            settings.turn = turn
            if turn.isQuarter { (width, height) = (height, width) }
        }
        guard width >= 1, height >= 1 else { return nil }
        settings.matrix = "bt470bg"
        let usual = ColorDescription.usualMatrix(width: track.format.width, height: track.format.height)
        let matrix = track.format.color.matrix ?? usual
        // JPEG has one matrix alone.
        if !track.format.pixelFormat.isRGB, ColorDescription.scaleName(ofMatrix: matrix) != nil,
            !ColorDescription.isSameMatrix(matrix, settings.matrix)
        {
            var color = ColorDescription()
            color.matrix = settings.matrix
            (settings.color, settings.sourceMatrix) = (color, matrix)
        }
        let scale = min(Double(box.width) / width, Double(box.height) / height, 1)
        settings.size = PixelSize(
            width: max(2, Int((width * scale / 2).rounded()) * 2),
            height: max(2, Int((height * scale / 2).rounded()) * 2))
        return settings
    }

    private static func jpeg(_ frame: consuming Frame) throws -> Data {
        var configuration = EncoderConfiguration(
            encoder: "mjpeg", mediaType: .video, timeBase: Rational(1, 25))
        configuration.width = frame.width
        configuration.height = frame.height
        configuration.pixelFormat = frame.pixelFormat
        configuration.fixedQuantizer = 6
        configuration.threads = 1
        let encoder = try FrameEncoder.open(configuration, globalHeaders: false)
        frame.pts = 0
        frame.clearPictureType()
        let packet = try Packet()
        guard try encoder.send(frame) else { return Data() }
        try encoder.sendEnd()
        guard case .ready = try encoder.receive(into: packet) else { return Data() }
        return packet.withBytes { Data($0) }
    }
}
