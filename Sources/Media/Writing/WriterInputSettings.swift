public import LibAV

/// Processing of an input's samples.
public enum WriterInputSettings: Sendable {
    /// Copies packets with times in `timeBase` (AVFoundation: `outputSettings: nil` with a source format hint).
    case passthrough(FormatDescription, timeBase: Rational)
    /// Encodes frames, which must have the configuration's size and format.
    case encode(EncoderConfiguration)
}
