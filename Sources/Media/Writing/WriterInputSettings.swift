public import LibAV

/// What an input does with the samples it is given.
public enum WriterInputSettings: Sendable {
    /// Writes packets as they are (AVFoundation: `outputSettings: nil` with a source format hint).
    case passthrough(FormatDescription, timeBase: Rational)
    /// Compresses frames, which must come in the configuration's size and format.
    case encode(EncoderConfiguration)
}
