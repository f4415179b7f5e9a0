/// The dry open of an encoder, which validates its settings.
package enum EncoderValidation {
    /// Returns the reason why the encoder can't be opened; nil if it can.
    package static func problem(_ configuration: EncoderConfiguration) -> String? {
        do throws(AVError) {
            _ = try parameters(configuration)
            return nil
        } catch {
            return error.detail ?? error.reason
        }
    }

    /// Opens the encoder and returns the parameters of its packets, which contain the codec's headers and the bit
    /// rate that the encoder chose.
    package static func parameters(_ configuration: EncoderConfiguration) throws(AVError) -> CodecParameters {
        var trial = configuration
        // One thread suffices, since at most one frame is encoded.
        trial.threads = 1
        trial.pass = nil
        let needsFrame = EncoderModel.of(configuration.encoder).isShared
        // Encoding a frame takes up to six seconds at 1920x1080; the validity of settings doesn't depend on
        // the size.
        if needsFrame { (trial.width, trial.height) = (min(trial.width, 256), min(trial.height, 144)) }
        let encoder = try FrameEncoder.open(trial, globalHeaders: true)
        if needsFrame { try encodeOne(trial, encoder) }
        return encoder.parameters
    }

    /// Encodes a frame and drains the encoder: SVT-AV1 1.4 blocks if it is closed without having encoded a frame.
    private static func encodeOne(
        _ trial: EncoderConfiguration, _ encoder: borrowing FrameEncoder
    ) throws(AVError) {
        let frame = try Frame.black(
            FrameFormat(
                width: trial.width, height: trial.height, format: trial.pixelFormat,
                sampleAspectRatio: trial.sampleAspectRatio ?? Rational(0, 1), color: trial.color))
        _ = try encoder.send(frame)
        try encoder.sendEnd()
        let packet = try Packet()
        while try encoder.receive(into: packet) == .ready {}
    }
}
