internal import LibAV

/// Encodes frames, and copies their durations to the packets, because encoders don't keep them.
final class VideoEncoderStage: InputStage {
    /// The encoder of the track.
    enum Encoder: ~Copyable {
        case whole(FrameEncoder)
        case chunked(ChunkedVideoEncoder)
    }

    private let encoder: Encoder
    let timeBase: Rational
    /// Durations of the frames in the encoder, by presentation time.
    private var durations: [Int64: Int64] = [:]
    private var lastTime: Int64?
    /// Time of the last appended frame, whether it was dropped or not.
    private var lastSample: MediaTime?
    private(set) var droppedFrames = 0
    private let acceptsCaptions: Bool
    /// Times at which keyframes are required.
    private let boundaries: SegmentBoundaries?
    private var converter: EncoderFormatConverter
    /// Color range to which frames are converted; nil for frames of a reader, which have it already, and for RGB.
    private let range: ColorRange?
    /// Matrix to which frames are converted; nil for frames of a reader, which have it already, and for RGB.
    private let matrix: String?
    private let frameFormat: (width: Int, height: Int, format: PixelFormat)
    /// The encoder's pixel format, without a range that its name implies.
    private let plainFormat: PixelFormat
    /// Primaries and transfer function that frames are converted to; nil for frames of a reader, which have them already.
    private let gamut: ColorDescription?
    /// The last frame's primaries and transfer function, and whether they are converted.
    private var lastGamut: (code: GamutCode, isConverted: Bool)?
    private let reference: TrackReference
    /// Whether frames are dropped if several have the same time in units of the time base. A reader sets the rate.
    private let isThinning: Bool
    /// Number of frames whose closed captions the encoder dropped.
    private(set) var droppedCaptions = 0

    init(
        encoder: consuming Encoder, configuration: EncoderConfiguration, isFedByReader: Bool,
        scaling: VideoScalingMode = .resizeAspect, boundaries: SegmentBoundaries? = nil,
        reference: TrackReference
    ) {
        self.reference = reference
        isThinning = !isFedByReader
        let color = configuration.color
        gamut = isFedByReader || color.primaries == nil && color.transfer == nil ? nil : color
        self.boundaries = boundaries
        range = isFedByReader || configuration.pixelFormat.isRGB ? nil : configuration.color.range ?? .limited
        matrix = isFedByReader || configuration.pixelFormat.isRGB ? nil : configuration.color.matrix
        switch encoder {
        case .whole(let encoder): (timeBase, encodesLater, isRecording) = (encoder.timeBase, false, false)
        case .chunked(let encoder):
            (timeBase, encodesLater, isRecording) = (encoder.timeBase, true, encoder.isRecording)
        }
        self.encoder = encoder
        acceptsCaptions = configuration.model?.frames.acceptsCaptions == true
        frameFormat = (configuration.width, configuration.height, configuration.pixelFormat)
        plainFormat = configuration.pixelFormat.withoutRangeByName
        converter = EncoderFormatConverter(configuration, scaling: scaling)
        durations.reserveCapacity(256)
    }

    let encodesLater: Bool
    /// Whether packets are recorded instead of being passed on.
    private let isRecording: Bool
    /// Whether all frames of the recorded chunks were appended.
    var hasRecordedFrames: Bool {
        switch encoder {
        case .whole: false
        case .chunked(let encoder): encoder.hasRecordedFrames
        }
    }
    var ending: TrackEnding {
        var ending = TrackEnding(statistics: statistics, droppedCaptions: droppedCaptions)
        switch encoder {
        case .whole: break
        case .chunked(let encoder): ending.chunks = encoder.counts
        }
        return ending
    }

    /// Returns a sample's time and end on the output's time line; nil if it is outside the session.
    private func times(
        of sample: borrowing SampleBuffer, start: MediaTime, end: MediaTime?
    ) -> (pts: Int64, until: Int64)? {
        let source = sample.timeBase
        let offset = start.ticks(in: timeBase)
        // Of frames shorter than a tick, the one on screen at the tick is encoded.
        let isShort =
            isThinning && sample.duration > 0
            && MediaTime(ticks: sample.duration, timeBase: source) < MediaTime(ticks: 1, timeBase: timeBase)
        let pts =
            isShort
            ? sample.presentationTime.ticks(in: timeBase, rounding: .down) - offset
            : source.rescale(sample.pts, to: timeBase) - offset
        var until = source.rescale(sample.pts + sample.duration, to: timeBase) - offset
        if let end = end.map({ $0.ticks(in: timeBase, rounding: .up) - offset }) {
            if pts >= end { return nil }
            until = min(until, end)
        }
        // Frames before the session's start are dropped, except for the one presented at the start.
        if pts < 0, until <= 0 { return nil }
        return (max(0, pts), until)
    }

    func check(_ sample: borrowing SampleBuffer, start: MediaTime, end: MediaTime?) throws(MediaError) {
        guard let (pts, _) = times(of: sample, start: start, end: end) else { return }
        let isEarlier = !isThinning || lastSample.map { sample.presentationTime <= $0 } != false
        if let lastTime, pts <= lastTime, isEarlier {
            let (time, last) = (
                MediaTime(ticks: pts, timeBase: timeBase), MediaTime(ticks: lastTime, timeBase: timeBase)
            )
            throw MediaError.invalidArgument(
                "frame times must increase in units of \(timeBase) s: a frame at \(time) s of the output follows one at \(last) s"
            )
        }
        switch sample.payload {
        case .packet: return
        case .frame(let frame):
            guard isConverted(frame) else { return }
            do throws(AVError) {
                try converter.prepare(for: frame)
            } catch {
                throw MediaError.unsupportedConversion(
                    of: frame, toSize: PixelSize(width: frameFormat.width, height: frameFormat.height),
                    frameFormat.format, track: reference, error)
            }
        }
    }

    func append(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        guard let (pts, until) = times(of: sample, start: start, end: end) else { return }
        lastSample = sample.presentationTime
        guard pts > lastTime ?? -1 else {
            droppedFrames += 1
            return
        }
        guard var frame = sample.takeFrame() else { return }
        lastTime = pts
        if isConverted(frame) { frame = try converter.convert(frame) }
        if !acceptsCaptions, frame.hasCaptions { droppedCaptions += 1 }
        frame.pts = pts
        frame.duration = max(1, until - pts)
        if !isRecording { durations[pts] = max(1, until - pts) }
        if boundaries?.isDue(at: MediaTime(ticks: pts, timeBase: timeBase)) == true {
            frame.requestKeyframe()
        } else {
            frame.clearPictureType()
        }
        switch encoder {
        case .whole(let encoder):
            while try !encoder.send(frame) { try drain(encoder, into: sink) }
            try drain(encoder, into: sink)
        case .chunked(let encoder):
            try encoder.send(frame) { packet throws(AVError) in try pass(packet, to: sink) }
        }
    }

    /// Whether a frame differs from what the encoder was opened for. Frames without a declared range are assumed to have
    /// the encoder's.
    private func isConverted(_ frame: borrowing Frame) -> Bool {
        if frame.width != frameFormat.width || frame.height != frameFormat.height { return true }
        let format = frame.pixelFormat
        if format != frameFormat.format, format.withoutRangeByName != plainFormat { return true }
        if let range, let isFull = frame.colorCode.isFullRange ?? (format.isFullRangeByName ? true : nil),
            isFull != (range == .full)
        {
            return true
        }
        return hasOtherMatrix(frame) || hasOtherGamut(frame)
    }

    /// Whether a frame declares other primaries or another transfer function than the encoder's.
    private func hasOtherGamut(_ frame: borrowing Frame) -> Bool {
        guard let gamut else { return false }
        let code = frame.gamutCode
        if let lastGamut, lastGamut.code == code { return lastGamut.isConverted }
        let isConverted = gamut.changes(from: frame.color).conversionFilter != nil
        lastGamut = (code, isConverted)
        return isConverted
    }

    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        switch encoder {
        case .whole(let encoder):
            try encoder.sendEnd()
            try drain(encoder, into: sink)
            statistics = encoder.statistics
        case .chunked(let encoder):
            try encoder.finish { packet throws(AVError) in try pass(packet, to: sink) }
        }
    }

    /// Returns whether a frame declares another matrix than the encoder's; false for frames of a reader, which are
    /// already converted.
    private func hasOtherMatrix(_ frame: borrowing Frame) -> Bool {
        guard let matrix, let own = frame.colorCode.matrixName else { return false }
        return !ColorDescription.isSameMatrix(own, matrix)
    }

    /// Statistics of a first pass; nil if the encoder writes them to a file.
    private(set) var statistics: String?

    private func drain(
        _ encoder: borrowing FrameEncoder, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        while true {
            let packet = try Packet()
            guard case .ready = try encoder.receive(into: packet) else { return }
            try pass(packet, to: sink)
        }
    }

    /// Passes on a packet with the duration of its frame.
    private func pass(
        _ packet: consuming Packet, to sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        if packet.dts == noTimestamp { packet.dts = packet.pts }
        if let duration = durations.removeValue(forKey: packet.pts) { packet.duration = duration }
        try sink(packet)
    }
}
