public import LibAV

/// In what form an output vends its samples.
public enum ReaderOutputSettings: Hashable, Sendable {
    /// Packets as they are in the file (AVFoundation: `outputSettings: nil`).
    case passthrough
    /// Decoded pictures.
    case video(VideoOutputSettings)
    /// Decoded sound, as linear PCM.
    case audio(AudioOutputSettings)
}

/// Pictures as an output vends them.
public struct VideoOutputSettings: Hashable, Codable, Sendable {
    /// The pixel format; nil for the source's.
    public var pixelFormat: PixelFormat?
    /// Size in pixels; nil for the source's.
    public var size: PixelSize?
    /// Frames a second, repeated or left out as needed; nil keeps every frame at its own time.
    public var frameRate: Rational?

    /// Pictures as the source has them.
    public init(pixelFormat: PixelFormat? = nil, size: PixelSize? = nil, frameRate: Rational? = nil) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRate = frameRate
    }
}

/// Width and height in pixels.
public struct PixelSize: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Width.
    public var width: Int
    /// Height.
    public var height: Int
    /// Makes a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
    /// As `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Sound as an output vends it; nil keeps what the source has.
public struct AudioOutputSettings: Hashable, Codable, Sendable {
    /// How a sample is stored.
    public var sampleFormat: SampleFormat?
    /// Samples per second.
    public var sampleRate: Int32?
    /// Channels and their places.
    public var layout: ChannelLayout?

    /// Sound as the source has it.
    public init(sampleFormat: SampleFormat? = nil, sampleRate: Int32? = nil, layout: ChannelLayout? = nil) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.layout = layout
    }
}
