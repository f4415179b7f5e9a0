public import LibAV

/// A type of audio samples in memory: `Float`, `Double`, `Int16`, `Int32` or `UInt8`.
public protocol AudioSample: BitwiseCopyable, Sendable {
    /// The sample format with this type, with interleaved channels.
    static var sampleFormat: SampleFormat { get }
}

extension Float: AudioSample {
    /// 32-bit floating point; full scale is from -1 to 1.
    public static var sampleFormat: SampleFormat { .float }
}
extension Double: AudioSample {
    /// 64-bit floating point; full scale is from -1 to 1.
    public static var sampleFormat: SampleFormat { .double }
}
extension Int16: AudioSample {
    /// 16-bit integers.
    public static var sampleFormat: SampleFormat { .s16 }
}
extension Int32: AudioSample {
    /// 32-bit integers.
    public static var sampleFormat: SampleFormat { .s32 }
}
extension UInt8: AudioSample {
    /// 8-bit unsigned integers; silence is 128.
    public static var sampleFormat: SampleFormat { .u8 }
}
