public import LibAV

extension FormatDescription {
    /// Creates the description of uncompressed frames, such as those that a program generates.
    /// - Throws: `MediaError.invalidArgument` for an invalid size.
    public static func frames(
        size: PixelSize, pixelFormat: PixelFormat = .yuv420p
    ) throws -> FormatDescription {
        try video(codec: "rawvideo", size: size, pixelFormat: pixelFormat)
    }

    /// Creates the description of uncompressed audio, such as samples that a program generates.
    /// - Throws: `MediaError.invalidArgument` for an invalid sample rate.
    public static func samples(sampleRate: Int32, layout: ChannelLayout = .stereo) throws -> FormatDescription
    {
        try audio(codec: "pcm_f32le", sampleRate: sampleRate, layout: layout, sampleFormat: .float)
    }
}
