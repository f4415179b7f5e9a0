public import LibAV

/// Sample buffers with data from the caller.
extension SampleBuffer {
    /// Creates a packet from a copy of compressed data; its decoding time equals its presentation time. `isKey`:
    /// whether decoding can start at the packet.
    public init(
        data: [UInt8], at time: MediaTime, duration: MediaTime, isKey: Bool, timeBase: Rational
    ) throws {
        guard !data.isEmpty, timeBase.isPositive else {
            throw MediaError.misuse("a packet requires bytes, and a time base greater than 0")
        }
        let packet = try Packet.of(data)
        if isKey { packet.markKey() }
        let ticks = time.ticks(in: timeBase)
        self.init(
            packet: packet, pts: ticks, dts: ticks, duration: duration.ticks(in: timeBase), timeBase: timeBase
        )
    }

    /// Creates a block of audio from interleaved samples between -1 and 1. The block begins at the sample position
    /// nearest to `time`.
    public init(audio samples: [Float], layout: ChannelLayout, sampleRate: Int32, at time: MediaTime) throws {
        guard sampleRate > 0, layout.channels > 0, !samples.isEmpty, samples.count % layout.channels == 0,
            samples.count / layout.channels <= 1 << 24
        else {
            throw MediaError.misuse(
                "\(samples.count) samples of \(layout.channels) channels at \(sampleRate) Hz are not a valid audio buffer"
            )
        }
        let frame = try Frame.audio(
            format: .float, layout: layout, sampleRate: sampleRate,
            samples: Int32(samples.count / layout.channels))
        _ = frame.withSamples { bytes in
            samples.withUnsafeBytes { bytes.copyMemory(from: $0) }
        }
        let unit = Rational(1, sampleRate)
        self.init(
            frame: frame, pts: time.ticks(in: unit), duration: Int64(samples.count / layout.channels),
            timeBase: unit)
    }
}
