import TandemKit

/// Settings and samples for tests of writers.
enum WriterSamples {
    static func settings(_ width: Int = 64, _ height: Int = 48, _ unit: Int32 = 25) -> EncoderConfiguration {
        var settings = EncoderConfiguration(
            encoder: "libx264", mediaType: .video, timeBase: Rational(1, unit))
        (settings.width, settings.height, settings.pixelFormat) = (width, height, .yuv420p)
        settings.options = [MetadataEntry(key: "preset", value: "ultrafast")]
        return settings
    }

    static func audioSettings(_ encoder: String = "aac", _ format: SampleFormat = .planarFloat)
        -> EncoderConfiguration
    {
        var settings = EncoderConfiguration(
            encoder: encoder, mediaType: .audio, timeBase: Rational(1, 48_000))
        (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (48_000, format, .mono)
        return settings
    }

    static func frame(_ time: Int64, _ width: Int = 64, _ height: Int = 48) throws -> SampleBuffer {
        let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: width, height: height)
        for plane in 0..<3 {
            try buffer.withMutablePlane(plane) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = 128 }
            }
        }
        return try SampleBuffer(pixelBuffer: buffer, pts: time, duration: 1, timeBase: Rational(1, 25))
    }

    static func audio(at time: MediaTime, count: Int = 1024) throws -> SampleBuffer {
        try SampleBuffer(
            audio: [Float](repeating: 0.1, count: count), layout: .mono, sampleRate: 48_000, at: time)
    }
}
