internal import LibAV

/// Encodes frames, and sets the packets' durations from the frames', which encoders don't keep.
final class VideoEncoderStage: EncoderStage {
    private let encoder: FrameEncoder
    /// Durations of the frames inside the encoder, by presentation time.
    private var durations: [Int64: Int64] = [:]
    private var lastTime: Int64?
    private let acceptsCaptions: Bool
    private var converter: EncoderFormatConverter
    /// Range of video levels that frames are converted to; nil for frames of a reader, which have it already,
    /// and for RGB.
    private let range: String?
    private let frameFormat: (width: Int, height: Int, format: PixelFormat)
    /// Number of frames whose closed captions the encoder dropped.
    private(set) var droppedCaptions = 0

    init(
        encoder: consuming FrameEncoder, configuration: EncoderConfiguration, isFedByReader: Bool
    ) {
        range = isFedByReader || configuration.pixelFormat.isRGB ? nil : configuration.color.range ?? "tv"
        self.encoder = encoder
        acceptsCaptions = EncoderModel.of(configuration.encoder).acceptsCaptions
        frameFormat = (configuration.width, configuration.height, configuration.pixelFormat)
        converter = EncoderFormatConverter(configuration)
        durations.reserveCapacity(256)
    }

    var timeBase: Rational { encoder.timeBase }

    func encode(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        let source = sample.timeBase
        let offset = start.ticks(in: timeBase)
        var pts = source.rescale(sample.pts, to: timeBase) - offset
        var until = source.rescale(sample.pts + sample.duration, to: timeBase) - offset
        if let end = end.map({ $0.ticks(in: timeBase, rounding: .up) - offset }) {
            if pts >= end { return }
            until = min(until, end)
        }
        // Frames before the session's start are dropped; the frame on screen at the start begins there.
        if pts < 0 {
            guard until > 0 else { return }
            pts = 0
        }
        guard pts > lastTime ?? -1 else {
            throw AVError(code: -22, operation: "encoding", detail: "frame times must increase")
        }
        lastTime = pts
        guard var frame = sample.takeFrame() else {
            throw MediaError.misuse("an encoding input requires frames, not packets")
        }
        // An encoder reads frames of the size that it was opened with.
        guard frame.width == frameFormat.width, frame.height == frameFormat.height else {
            throw MediaError.misuse(
                "a frame of \(frame.width)x\(frame.height) was appended to an input of \(frameFormat.width)x\(frameFormat.height)"
            )
        }
        // Frames without a declared range are taken to have the encoder's.
        let isFull = frame.colorCode.isFullRange ?? (frame.pixelFormat.isFullRangeByName ? true : nil)
        let hasOtherRange = range.flatMap { range in isFull.map { $0 != (range == "pc") } }
        if frame.pixelFormat.withoutRangeByName != frameFormat.format.withoutRangeByName
            || hasOtherRange == true
        {
            frame = try converter.convert(frame)
        }
        if !acceptsCaptions, frame.hasCaptions { droppedCaptions += 1 }
        frame.pts = pts
        frame.duration = max(1, until - pts)
        durations[pts] = max(1, until - pts)
        while try !encoder.send(frame) { try drain(into: sink) }
        try drain(into: sink)
    }

    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        try encoder.sendEnd()
        try drain(into: sink)
        statistics = encoder.statistics
    }

    /// Statistics of a first pass; nil if the encoder writes them to a file.
    private(set) var statistics: String?

    private func drain(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        while true {
            let packet = try Packet()
            guard case .ready = try encoder.receive(into: packet) else { return }
            if packet.dts == noTimestamp { packet.dts = packet.pts }
            if let duration = durations.removeValue(forKey: packet.pts) { packet.duration = duration }
            try sink(packet)
        }
    }
}
