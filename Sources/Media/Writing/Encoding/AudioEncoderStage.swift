internal import LibAV

/// Encodes audio: splits it into the encoder's frame size, and ends the track at the exact sample.
final class AudioEncoderStage: InputStage {
    private let encoder: FrameEncoder
    /// Encodes in place of `encoder`, on several processors.
    private let concurrent: ConcurrentFLACEncoder?
    private let container: ContainerType
    private let codec: String
    private let frameSize: Int
    private let format: AudioFormat
    private let converter: AudioInputConverter
    private let reference: TrackReference
    private var fifo: SampleFIFO?
    /// Position of the next sample sent to the encoder; nil before the first one.
    private var position: Int64?
    /// Delay of the track's start, and the encoder delay; nil if the track begins at zero, or begins with inserted
    /// silence.
    private(set) var delayedStart: (delay: Int64, padding: Int64)?
    /// End of the track, once it is known: some encoders pad the last packet without marking the padding.
    private var end: Int64?
    /// Whether gaps between samples are filled with silence; false for samples from a reader, which are contiguous.
    private let followsTimes: Bool
    /// Whether the container may store a late start. If the header is written before the end, an encoder delay
    /// can't be stored in addition.
    private let canStartLate: Bool
    /// Number of samples of silence inserted because the container can't represent a late start.
    private(set) var filledSamples = 0

    /// Creates a stage. With `concurrent`, packets are returned in batches.
    init(
        encoder: consuming FrameEncoder, concurrent: ConcurrentFLACEncoder? = nil,
        configuration: EncoderConfiguration, container: ContainerType,
        isFedByReader: Bool, canStartLate: Bool = true, reference: TrackReference
    ) {
        self.concurrent = concurrent
        self.canStartLate = canStartLate
        followsTimes = !isFedByReader
        frameSize = encoder.frameSize
        codec = encoder.parameters.codecName
        self.encoder = encoder
        self.container = container
        format = AudioFormat(
            sampleFormat: configuration.sampleFormat, sampleRate: configuration.sampleRate,
            layout: configuration.channelLayout ?? .stereo)
        converter = AudioInputConverter(to: format)
        self.reference = reference
    }

    var timeBase: Rational { encoder.timeBase }
    var ending: TrackEnding { TrackEnding(delay: delayedStart, filledSamples: filledSamples) }
    var droppedFrames: Int { 0 }

    func check(_ sample: borrowing SampleBuffer, start: MediaTime, end: MediaTime?) throws(MediaError) {
        let unit = Rational(1, format.sampleRate)
        let offset = start.ticks(in: unit)
        let time = sample.timeBase.rescale(sample.pts, to: unit) - offset
        if let end = end.map({ $0.ticks(in: unit) - offset }), time >= end { return }
        try checkFormat(of: sample)
        let earlier = position.map { _ in appendedEnd }
        if earlier != nil, !followsTimes { return }
        if let earlier { try checkOverlap(time, earlier) }
        let isFilled =
            earlier != nil
            || !canDelay(by: time)
        guard isFilled, time - (earlier ?? 0) > Self.longestGap.ticks(in: unit) else { return }
        throw MediaError.invalidArgument(
            "audio at \(MediaTime(ticks: time, timeBase: unit)) s of the output begins after a gap from \(MediaTime(ticks: earlier ?? 0, timeBase: unit)) s on; at most \(Self.longestGap) s are filled with silence"
        )
    }

    /// Throws if samples can't be converted to the encoder's format.
    private func checkFormat(of sample: borrowing SampleBuffer) throws(MediaError) {
        let own: AudioFormat
        switch sample.payload {
        case .packet: return
        case .frame(let frame): own = input(of: frame)
        }
        if own == format || own == checkedFormat { return }
        do throws(AVError) {
            guard AudioInputConverter.rates.contains(own.sampleRate) || own.sampleRate == format.sampleRate,
                (1...64).contains(own.layout.channels)
            else { throw AVError(code: -22, operation: "swr_init", detail: "unsupported format") }
            _ = try Resampler.open(from: own, to: format)
            checkedFormat = own
        } catch {
            throw MediaError.unsupportedConversion(
                track: reference, from: Self.description(own), to: Self.description(format), error)
        }
    }
    /// The last format that was checked.
    private var checkedFormat: AudioFormat?

    /// Returns the format of appended samples. Those of a reader have the encoder's layout, whatever their label is.
    private func input(of frame: borrowing Frame) -> AudioFormat {
        AudioFormat(
            sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate,
            layout: !followsTimes && frame.channels == format.layout.channels
                ? format.layout : frame.channelLayout.specified)
    }

    private static func description(_ format: AudioFormat) -> String {
        "audio of \(format.sampleRate) Hz and \(format.layout.channels) channels in \(format.sampleFormat)"
    }

    /// Position at which the samples appended so far end.
    private var appendedEnd: Int64 { (position ?? 0) + Int64((fifo?.count ?? 0) + converter.owed) }

    /// Longest gap that is filled with silence.
    private static let longestGap = TimeBounds.longPause

    /// Throws if samples begin before the last ones ended.
    private func checkOverlap(_ time: Int64, _ end: Int64) throws(MediaError) {
        guard time + slack < end else { return }
        let unit = Rational(1, format.sampleRate)
        let (time, end) = (MediaTime(ticks: time, timeBase: unit), MediaTime(ticks: end, timeBase: unit))
        throw MediaError.invalidArgument("audio at \(time) s overlaps audio that ends at \(end) s")
    }

    /// Tolerance for rounded times: 1 ms, in samples.
    private var slack: Int64 { Int64(format.sampleRate / 1000) }

    func append(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        let times = (pts: sample.pts, unit: sample.timeBase)
        guard let frame = sample.takeFrame() else { return }
        // Cut at the source's samples.
        let own = Rational(1, max(1, frame.sampleRate))
        let offset = start.ticks(in: own)
        var time = times.unit.rescale(times.pts, to: own) - offset
        if let end = end.map({ $0.ticks(in: own) - offset }), time + Int64(frame.sampleCount) > end {
            guard time < end else { return }
            frame.narrow(start: 0, count: Int(end - time))
        }
        // Samples before the session's start are dropped.
        if time < 0, position == nil {
            guard time + Int64(frame.sampleCount) > 0 else { return }
            frame.narrow(start: Int(-time), count: frame.sampleCount + Int(time))
            time = 0
        }
        let target = own.rescale(time, to: Rational(1, format.sampleRate))
        let input = input(of: frame)
        if !converter.accepts(input) { try endRun(into: sink) }
        if position == nil {
            try begin(at: target, into: sink)
        } else if followsTimes {
            try fill(until: target, into: sink)
        }
        try converter.prepare(for: input)
        try take(try converter.convert(frame), into: sink)
    }

    /// Encodes samples in the encoder's format, or stores them until a frame is complete.
    private func take(
        _ frame: consuming Frame, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        guard frame.sampleCount > 0 else { return }
        if (fifo?.count ?? 0) == 0, frameSize == 0 || frame.sampleCount == frameSize {
            try send(frame, into: sink)
        } else {
            try store(frame)
            try sendWhole(into: sink)
        }
    }

    /// Takes the samples that the resampler holds, at the end of contiguous samples.
    private func endRun(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        while let rest = try converter.drain() { try take(rest, into: sink) }
    }

    private func canDelay(by time: Int64) -> Bool {
        canStartLate
            && container.canDelayAudio(by: time, padding: Int64(encoder.initialPadding), codec: codec)
    }

    /// Handles a late start: the container represents it if possible; otherwise silence is inserted.
    private func begin(
        at time: Int64, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        let padding = Int64(encoder.initialPadding)
        if time > 0, !canDelay(by: time) {
            position = 0
            filledSamples = Int(time)
            try appendSilence(Int(clamping: time), into: sink)
        } else {
            position = time
            if time > 0 && padding > 0 { delayedStart = (time, padding) }
        }
    }

    /// Inserts silence if the next samples begin after the end of the last ones; throws if they overlap.
    private func fill(
        until time: Int64, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        let end = appendedEnd
        try checkOverlap(time, end)
        guard time > end + slack else { return }
        try endRun(into: sink)
        try appendSilence(Int(clamping: time - end), into: sink)
    }

    private func appendSilence(
        _ count: Int, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        if fifo == nil { fifo = try SampleFIFO(format: format) }
        var remaining = count
        while remaining > 0 {
            let run = min(remaining, 16_384)
            try fifo?.appendSilence(run)
            try sendWhole(into: sink)
            remaining -= run
        }
    }

    /// Sends all complete frames in the FIFO to the encoder.
    private func sendWhole(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        while true {
            let waiting = fifo?.count ?? 0
            guard waiting >= max(1, frameSize), let run = try fifo?.take(frameSize == 0 ? waiting : frameSize)
            else { return }
            try send(run, into: sink)
        }
    }

    private func store(_ frame: borrowing Frame) throws(AVError) {
        if fifo == nil { fifo = try SampleFIFO(format: format) }
        try fifo?.append(frame)
    }

    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        try endRun(into: sink)
        end = appendedEnd
        try flush()
        if let rest = fifo?.count, rest > 0, let frame = try fifo?.take(rest) {
            var remaining = rest
            if frameSize > 0, remaining > frameSize {
                // More than a frame remains only after silence was inserted for a late start.
                var taken = 0
                while remaining > 0 {
                    let count = min(frameSize, remaining)
                    let part = try frame.reference()
                    part.narrow(start: taken, count: count)
                    try send(part, into: sink)
                    taken += count
                    remaining -= count
                }
            } else {
                try send(frame, into: sink)
            }
        }
        if let concurrent {
            try concurrent.finish { packet throws(AVError) in try pass(packet, into: sink) }
            return
        }
        try encoder.sendEnd()
        try drain(into: sink)
    }

    /// Appends silence for an encoder that returns its delayed samples only after further input, so that it outputs all
    /// audio. Required only if the rest of the last frame is shorter than the delay.
    private func flush() throws(AVError) {
        let padding = encoder.initialPadding
        guard !encoder.drainsByItself, frameSize > 0, padding > 0, let position else { return }
        let rest = fifo?.count ?? 0
        let filled = rest == 0 ? 0 : (frameSize - rest % frameSize) % frameSize
        guard position > 0 || rest > 0, filled < padding else { return }
        if fifo == nil { fifo = try SampleFIFO(format: format) }
        try fifo?.appendSilence(padding)
    }

    private func send(_ frame: consuming Frame, into sink: (consuming Packet) throws(AVError) -> Void)
        throws(AVError)
    {
        let at = position ?? 0
        frame.pts = Rational(1, format.sampleRate).rescale(at, to: timeBase)
        position = at + Int64(frame.sampleCount)
        if let concurrent {
            return try concurrent.encode(frame) { packet throws(AVError) in try pass(packet, into: sink) }
        }
        while try !encoder.send(frame) { try drain(into: sink) }
        try drain(into: sink)
    }

    private func drain(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        while true {
            let packet = try Packet()
            guard case .ready = try encoder.receive(into: packet) else { return }
            try pass(packet, into: sink)
        }
    }

    /// Passes on a packet of the encoder, shortened to the end of the track.
    private func pass(
        _ packet: consuming Packet, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        if packet.dts == noTimestamp { packet.dts = packet.pts }
        if let end {
            let last = Rational(1, format.sampleRate).rescale(end, to: timeBase)
            // A packet that contains only padding is dropped. An empty packet carries the final header (FLAC).
            if packet.pts >= last, packet.size > 0 { return }
            packet.duration = max(0, min(packet.duration, last - packet.pts))
        }
        try sink(packet)
    }
}
