internal import CFFmpeg

/// The format of decoded audio.
public struct AudioFormat: Hashable, Codable, Sendable {
    /// Type of the samples, and whether they are planar.
    public var sampleFormat: SampleFormat
    /// Samples per second.
    public var sampleRate: Int32
    /// Number and positions of the channels.
    public var layout: ChannelLayout

    /// Creates a format from its three properties.
    public init(sampleFormat: SampleFormat, sampleRate: Int32, layout: ChannelLayout) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.layout = layout
    }
}

/// A converter of audio between formats (`SwrContext`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Resampler: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    package let output: AudioFormat

    private init(adopting context: OpaquePointer, output: AudioFormat) {
        self.context = context
        self.output = output
    }

    deinit {
        var copy: OpaquePointer? = context
        swr_free(&copy)
    }

    /// Creates a converter between two formats. A downmix doesn't clip, because its matrix is normalized. Dither is
    /// used only if the samples become smaller.
    package static func open(from input: AudioFormat, to output: AudioFormat) throws(AVError) -> Resampler {
        var inputLayout = AVChannelLayout()
        var outputLayout = AVChannelLayout()
        defer {
            av_channel_layout_uninit(&inputLayout)
            av_channel_layout_uninit(&outputLayout)
        }
        try input.layout.specified.copy(to: &inputLayout)
        try output.layout.specified.copy(to: &outputLayout)
        var allocated: OpaquePointer?
        try check(
            swr_alloc_set_opts2(
                &allocated, &outputLayout, output.sampleFormat.av, output.sampleRate, &inputLayout,
                input.sampleFormat.av, input.sampleRate, 0, nil), "swr_alloc_set_opts2")
        guard let context = allocated else { throw .outOfMemory("swr_alloc_set_opts2") }
        let resampler = Resampler(adopting: context, output: output)
        let object = UnsafeMutableRawPointer(context)
        try check(av_opt_set_double(object, "rematrix_maxval", 1, 0), "av_opt_set_double")
        if input.sampleFormat.bytesPerSample > output.sampleFormat.bytesPerSample {
            try check(av_opt_set(object, "dither_method", "triangular", 0), "av_opt_set")
        }
        try check(swr_init(context), "swr_init")
        return resampler
    }

    /// Converts a frame (`swr_convert`). The result may be empty, or contain samples of earlier frames.
    package func convert(_ frame: borrowing Frame) throws(AVError) -> Frame {
        let capacity = swr_get_out_samples(context, frame.raw.pointee.nb_samples)
        let target = try makeOutputFrame(capacity)
        let count = swr_convert(
            context, target.raw.pointee.extended_data, target.raw.pointee.nb_samples,
            UnsafeMutableRawPointer(frame.raw.pointee.extended_data)?.assumingMemoryBound(
                to: UnsafePointer<UInt8>?.self), frame.raw.pointee.nb_samples)
        target.raw.pointee.nb_samples = try check(count, "swr_convert")
        return target
    }

    /// Returns at most `samples` of the samples that remain in the converter; an empty frame if there are none.
    package func drain(_ samples: Int = 4096) throws(AVError) -> Frame {
        let target = try makeOutputFrame(Int32(clamping: samples))
        let count = swr_convert(
            context, target.raw.pointee.extended_data, target.raw.pointee.nb_samples, nil, 0)
        target.raw.pointee.nb_samples = try check(count, "swr_convert")
        return target
    }

    private func makeOutputFrame(_ samples: Int32) throws(AVError) -> Frame {
        try Frame.audio(
            format: output.sampleFormat, layout: output.layout.specified, sampleRate: output.sampleRate,
            samples: max(1, samples))
    }
}
