public import LibAV

/// Typed access to the samples of decoded audio (`AVAudioPCMBuffer`).
extension SampleBuffer {
    /// Format of the samples; nil for packets and video frames.
    public var audioFormat: AudioFormat? {
        switch payload {
        case .frame(let frame) where frame.width == 0 && frame.sampleRate > 0:
            AudioFormat(
                sampleFormat: frame.sampleFormat, sampleRate: frame.sampleRate, layout: frame.channelLayout)
        default: nil
        }
    }

    /// Calls `body` with the samples of all channels, interleaved, without a copy: those of the first sample position
    /// first. Bounds are checked, and the samples are valid only during the call.
    /// - Throws: `MediaError.invalidArgument` if the samples have another type, if the channels are in separate planes, or for
    ///   packets and video; and the errors of `body`.
    public borrowing func withSamples<Sample: AudioSample, R>(
        of type: Sample.Type, _ body: (Span<Sample>) throws -> R
    ) throws -> R {
        let format = try audioFormat(of: type)
        guard !format.sampleFormat.isPlanar || format.layout.channels == 1 else {
            throw MediaError.invalidArgument(
                "the \(format.layout.channels) channels are in separate planes (\(format.sampleFormat)); read each with `withSamples(of:channel:)`, or set the output's sample format to \(Sample.sampleFormat)"
            )
        }
        return try withPlane(0, body)
    }

    /// Calls `body` with the samples of one channel, without a copy. Bounds are checked, and the samples are valid only
    /// during the call.
    /// - Throws: `MediaError.invalidArgument` if the samples have another type, if several channels are interleaved, if there is
    ///   no such channel, or for packets and video; and the errors of `body`.
    public borrowing func withSamples<Sample: AudioSample, R>(
        of type: Sample.Type, channel: Int, _ body: (Span<Sample>) throws -> R
    ) throws -> R {
        let format = try audioFormat(of: type)
        let channels = format.layout.channels
        guard (0..<channels).contains(channel) else {
            throw MediaError.invalidArgument(
                "`channel` is \(channel); expected less than \(channels), and at least 0")
        }
        guard format.sampleFormat.isPlanar || channels == 1 else {
            throw MediaError.invalidArgument(
                "the \(channels) channels are interleaved (\(format.sampleFormat)); read them with `withSamples(of:)`, or set the output's sample format to a planar one"
            )
        }
        return try withPlane(channel, body)
    }

    /// Returns a copy of the samples, with the channels interleaved, from either arrangement.
    /// - Throws: `MediaError.invalidArgument` if the samples have another type, or for packets and video.
    public borrowing func interleavedSamples<Sample: AudioSample>(of type: Sample.Type) throws -> [Sample] {
        let format = try audioFormat(of: type)
        let channels = format.layout.channels
        guard format.sampleFormat.isPlanar, channels > 1 else {
            return try withPlane(0) { (samples: Span<Sample>) in samples.indices.map { samples[$0] } }
        }
        return Self.interleaved(try planarSamples(of: type))
    }

    /// Returns a copy of the samples of each channel, from either arrangement.
    /// - Throws: `MediaError.invalidArgument` if the samples have another type, or for packets and video.
    public borrowing func planarSamples<Sample: AudioSample>(of type: Sample.Type) throws -> [[Sample]] {
        let format = try audioFormat(of: type)
        let channels = format.layout.channels
        guard !format.sampleFormat.isPlanar, channels > 1 else {
            var planes: [[Sample]] = []
            for channel in 0..<channels {
                planes.append(
                    try withPlane(channel) { (samples: Span<Sample>) in samples.indices.map { samples[$0] } })
            }
            return planes
        }
        return try withPlane(0) { (samples: Span<Sample>) in
            (0..<channels).map { channel in
                stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
            }
        }
    }

    /// Creates a block of audio from interleaved samples. It begins at the sample position nearest to `time`.
    /// - Throws: `MediaError.invalidArgument` if the samples aren't those of whole sample positions, or there are none.
    public init<Sample: AudioSample>(
        interleaved samples: [Sample], layout: ChannelLayout, sampleRate: Int32, at time: MediaTime
    ) throws {
        let count = try Self.count(samples.count, layout, sampleRate)
        let frame = try Frame.audio(
            format: Sample.sampleFormat, layout: layout, sampleRate: sampleRate, samples: Int32(count))
        _ = frame.withSamples { bytes in
            samples.withUnsafeBytes { bytes.copyMemory(from: $0) }
        }
        let unit = Rational(1, sampleRate)
        self.init(frame: frame, pts: time.ticks(in: unit), duration: Int64(count), timeBase: unit)
    }

    /// Creates a block of audio from the samples of each channel; they are stored interleaved.
    /// - Throws: `MediaError.invalidArgument` if the number of channels or their lengths differ, or there are no samples.
    public init<Sample: AudioSample>(
        planar channels: [[Sample]], layout: ChannelLayout, sampleRate: Int32, at time: MediaTime
    ) throws {
        let length = channels.first?.count ?? 0
        guard channels.count == layout.channels, channels.allSatisfy({ $0.count == length }) else {
            throw MediaError.invalidArgument(
                "\(channels.count) channels of \(channels.map(\.count)) samples; expected \(layout.channels) channels of equal lengths"
            )
        }
        try self.init(
            interleaved: Self.interleaved(channels), layout: layout, sampleRate: sampleRate, at: time)
    }

    /// Returns the samples of channels of equal lengths, those of the first sample position first.
    private static func interleaved<Sample: AudioSample>(_ channels: [[Sample]]) -> [Sample] {
        let count = (channels.first?.count ?? 0) * channels.count
        return Array(unsafeUninitializedCapacity: count) { samples, initialized in
            for (channel, plane) in channels.enumerated() {
                var index = channel
                for sample in plane {
                    samples.initializeElement(at: index, to: sample)
                    index += channels.count
                }
            }
            initialized = count
        }
    }

    /// Returns the number of samples per channel; throws for a buffer that can't be created.
    private static func count(
        _ samples: Int, _ layout: ChannelLayout, _ sampleRate: Int32
    ) throws(MediaError) -> Int {
        guard sampleRate > 0, layout.channels > 0, samples > 0, samples % layout.channels == 0,
            samples / layout.channels <= 1 << 24
        else {
            throw .invalidArgument(
                "\(samples) samples of \(layout.channels) channels at \(sampleRate) Hz are not a valid audio buffer"
            )
        }
        return samples / layout.channels
    }

    /// Returns the format if the samples have the type.
    private func audioFormat<Sample: AudioSample>(of type: Sample.Type) throws(MediaError) -> AudioFormat {
        guard let format = audioFormat, sampleCount > 0 else {
            throw .invalidArgument("the sample contains no decoded audio")
        }
        guard format.sampleFormat.interleaved == Sample.sampleFormat else {
            throw .invalidArgument(
                "the samples are \(format.sampleFormat), not \(Sample.self); set the output's sample format to \(Sample.sampleFormat), or read another type"
            )
        }
        return format
    }

    private borrowing func withPlane<Sample: AudioSample, R>(
        _ index: Int, _ body: (Span<Sample>) throws -> R
    ) throws -> R {
        let result = try withFrame { frame in
            try frame.withAudioPlane(index) { bytes in
                try bytes.withMemoryRebound(to: Sample.self) { samples in
                    try body(samples.span)
                }
            }
        }
        guard case let value?? = result else {
            throw MediaError.invalidArgument("the sample contains no decoded audio")
        }
        return value
    }
}
