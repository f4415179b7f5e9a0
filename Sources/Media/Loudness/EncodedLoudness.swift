internal import LibAV

/// Measures the loudness that audio has after lossy encoding: encodes, decodes and measures it in memory. Lossy codecs
/// change loudness (LAME reduces it by 0.3 to 0.4 LU below 192 kbit/s) and overshoot peaks.
final class EncodedLoudness {
    private let samples: TrackSamples
    private let stage: AudioEncoderStage
    private let decoder: PacketDecoder
    private let filter = AudioFilterStage(chain: FilterChain([LoudnessReading.step]))
    private var reading = LoudnessReading()
    private var start: MediaTime?
    private var problem: (any Error)?

    init(samples: TrackSamples, configuration: EncoderConfiguration, container: ContainerType) throws {
        self.samples = samples
        let encoder = try FrameEncoder.open(configuration, globalHeaders: true)
        // Input limits aren't required, because the packets come from the encoder above.
        decoder = try PacketDecoder.open(
            encoder.parameters, timeBase: encoder.timeBase, threads: 1, limits: InputLimits())
        stage = AudioEncoderStage(
            encoder: encoder, configuration: configuration, container: container, isFedByReader: true,
            reference: .output(index: 0, .audio, id: nil))
    }

    /// Reads all samples and returns the loudness. Blocks; throws `CancellationError` if cancelled.
    func measure() throws -> Loudness {
        try samples.start()
        while let sample = try samples.next() {
            let start = start ?? MediaTime(ticks: sample.pts, timeBase: sample.timeBase)
            self.start = start
            try stage.append(sample, start: start, end: nil) { packet throws(AVError) in decode(packet) }
            if let problem { throw problem }
        }
        try stage.finish { packet throws(AVError) in decode(packet) }
        try decoder.sendEnd()
        try takeFrames()
        try filter.finish(at: nil)
        try takeReadings()
        if let problem { throw problem }
        return reading.loudness
    }

    private func decode(_ packet: consuming Packet) {
        guard problem == nil, packet.size > 0 else { return }
        do {
            while try !decoder.send(packet) { try takeFrames() }
            try takeFrames()
        } catch {
            problem = error
        }
    }

    private func takeFrames() throws {
        while true {
            let frame = try Frame()
            guard case .ready = try decoder.receive(into: frame) else { return }
            // The measurement doesn't depend on timestamps.
            frame.pts = 0
            try filter.push(frame, in: Rational(1, 1))
            try takeReadings()
        }
    }

    private func takeReadings() throws {
        while let frame = try filter.pull() { reading.take(frame) }
    }
}
