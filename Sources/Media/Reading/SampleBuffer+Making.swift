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

    /// Creates a block of audio from interleaved samples between -1 and 1. The block begins at the sample position
    /// nearest to `time`.
    public init(audio samples: [Float], layout: ChannelLayout, sampleRate: Int32, at time: MediaTime) throws {
        try self.init(interleaved: samples, layout: layout, sampleRate: sampleRate, at: time)
    }
}
