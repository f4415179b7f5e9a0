public import LibAV

/// Sample buffers with data from the caller.
extension SampleBuffer {
    /// Creates a packet from a copy of compressed data; its decoding time equals its presentation time. `isKey`:
    /// whether decoding can start at the packet.
    public init(
        data: [UInt8], at time: MediaTime, duration: MediaTime, isKey: Bool, timeBase: Rational
    ) throws {
        guard !data.isEmpty, timeBase.isPositive else {
            throw MediaError.invalidArgument("a packet requires bytes, and a time base greater than 0")
        }
        let packet = try Packet.of(data)
        if isKey { packet.markKey() }
        let ticks = time.ticks(in: timeBase)
        self.init(
            packet: packet, pts: ticks, dts: ticks, duration: duration.ticks(in: timeBase), timeBase: timeBase
        )
    }

    /// Creates a frame from a pixel buffer, without a copy; the buffer becomes read-only. Times are in ticks of `timeBase`
    /// (`CMSampleBufferCreateForImageBuffer`).
    /// - Throws: `AVError` if memory is exhausted.
    public init(
        pixelBuffer: PixelBuffer, pts: Int64, duration: Int64, timeBase: Rational
    ) throws(AVError) {
        self.init(frame: try pixelBuffer.makeFrame(), pts: pts, duration: duration, timeBase: timeBase)
    }

    /// Creates a frame from a pixel buffer, without a copy; the buffer becomes read-only
    /// (`CMSampleBufferCreateForImageBuffer`). The time base of the sample contains both times exactly, unless it
    /// would be finer than a nanosecond.
    /// - Throws: `MediaError.invalidArgument` for a negative duration, `AVError` if memory is exhausted.
    public init(pixelBuffer: PixelBuffer, at time: MediaTime, duration: MediaTime) throws {
        guard duration >= .zero else {
            throw MediaError.invalidArgument("the duration of a frame is \(duration) s; expected at least 0")
        }
        let units = [Rational(1, time.timescale), Rational(1, duration.timescale)]
        let timeBase = commonTick(units) ?? Rational(1, 1_000_000_000)
        try self.init(
            pixelBuffer: pixelBuffer, pts: time.ticks(in: timeBase), duration: duration.ticks(in: timeBase),
            timeBase: timeBase)
    }

    /// Creates a block of audio from interleaved samples between -1 and 1. The block begins at the sample position
    /// nearest to `time`.
    public init(audio samples: [Float], layout: ChannelLayout, sampleRate: Int32, at time: MediaTime) throws {
        try self.init(interleaved: samples, layout: layout, sampleRate: sampleRate, at: time)
    }
}
