internal import LibAV

/// Frames in, packets out, each with the length of its frame: encoders forget it.
final class VideoEncoderStage: EncoderStage {
    private let encoder: FrameEncoder
    /// Lengths by presentation time, of the frames inside the encoder.
    private var durations: [Int64: Int64] = [:]
    private var lastTime: Int64?
    private let takesCaptions: Bool
    private var converter: EncoderFormConverter
    /// What frames' numbers are to mean, where whoever made them may not know.
    private let range: String?
    private let form: (width: Int, height: Int, format: PixelFormat)
    /// Frames whose closed captions the encoder leaves.
    private(set) var captionsLeft = 0

    init(
        encoder: consuming FrameEncoder, configuration: EncoderConfiguration, isFedByReader: Bool
    ) {
        range = isFedByReader || configuration.pixelFormat.isRGB ? nil : configuration.color.range ?? "tv"
        self.encoder = encoder
        takesCaptions = EncoderModel.of(configuration.encoder).takesCaptions
        form = (configuration.width, configuration.height, configuration.pixelFormat)
        converter = EncoderFormConverter(configuration)
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
        // What lies before the session's start is left out; the frame that is shown then begins with it.
        if pts < 0 {
            guard until > 0 else { return }
            pts = 0
        }
        guard pts > lastTime ?? -1 else {
            throw AVError(code: -22, operation: "encoding", detail: "a frame's time does not increase")
        }
        lastTime = pts
        guard var frame = sample.takeFrame() else {
            throw MediaError.misuse("an encoding input takes frames, not packets")
        }
        // An encoder reads as many rows and columns as it was opened for.
        guard frame.width == form.width, frame.height == form.height else {
            throw MediaError.misuse(
                "a frame of \(frame.width)x\(frame.height) in an input of \(form.width)x\(form.height)")
        }
        // What says nothing is taken for what the encoder is told.
        let isFull = frame.colorCode.isFullRange ?? (frame.pixelFormat.isFullRangeByName ? true : nil)
        let isOtherRange = range.flatMap { range in isFull.map { $0 != (range == "pc") } }
        if frame.pixelFormat.withoutRangeByName != form.format.withoutRangeByName || isOtherRange == true {
            frame = try converter.convert(frame)
        }
        if !takesCaptions, frame.hasCaptions { captionsLeft += 1 }
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

    /// What a first pass found out, where the encoder keeps no file of its own.
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
