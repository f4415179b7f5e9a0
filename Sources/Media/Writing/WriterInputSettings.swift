public import LibAV

/// Processing of an input's samples.
public enum WriterInputSettings: Sendable {
    /// Copies packets with times in `timeBase` (AVFoundation: `outputSettings: nil` with a source format hint).
    case passthrough(FormatDescription, timeBase: Rational)
    /// Encodes frames or audio. Samples with other properties are converted to the configuration's:
    ///
    /// - frames to its size (`AssetWriterInput.scalingMode`), pixel format, range and matrix, and to its primaries and
    ///   transfer function where both are declared, from HDR to SDR by tone mapping. A configuration without a matrix gets
    ///   the one that players assume for the size. Undeclared properties of frames are assumed to be the configuration's;
    ///   the matrix of frames of another size is assumed to be the one that players assume;
    /// - times to its time base. Of several frames within a tick, one is encoded (`droppedSamples`);
    /// - audio to its sample rate, channel layout and sample format, exactly as long as before. Gaps are filled with
    ///   silence.
    ///
    /// Other samples, and formats that can't be converted, are refused with `MediaError.unsupportedConversion`.
    case encode(EncoderConfiguration)
}
