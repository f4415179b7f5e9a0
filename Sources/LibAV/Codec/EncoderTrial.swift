/// Opens an encoder for a moment, to hear what it says of its settings.
package enum EncoderTrial {
    /// Why the encoder can't be opened so; nil where it can.
    package static func problem(_ configuration: EncoderConfiguration) -> String? {
        do throws(AVError) {
            _ = try parameters(configuration)
            return nil
        } catch {
            return error.detail ?? error.reason
        }
    }

    /// What its packets would be: the codec's headers, and the bit rate that it took.
    package static func parameters(_ configuration: EncoderConfiguration) throws(AVError) -> CodecParameters {
        var trial = configuration
        // The fewest threads that do: nothing is encoded.
        trial.threads = 1
        trial.pass = nil
        let needsFrame = EncoderModel.of(configuration.encoder).isShared
        // A frame costs up to six seconds at 1920x1080; its settings don't depend on the size.
        if needsFrame { (trial.width, trial.height) = (min(trial.width, 256), min(trial.height, 144)) }
        let encoder = try FrameEncoder.open(trial, globalHeaders: true)
        if needsFrame { try encodeOne(trial, encoder) }
        return encoder.parameters
    }

    /// SVT-AV1 1.4 never comes back from being closed before it was given a frame and drained.
    private static func encodeOne(
        _ trial: EncoderConfiguration, _ encoder: borrowing FrameEncoder
    ) throws(AVError) {
        let frame = try Frame.black(
            FrameForm(
                width: trial.width, height: trial.height, format: trial.pixelFormat,
                sampleAspectRatio: trial.sampleAspectRatio ?? Rational(0, 1), color: trial.color))
        _ = try encoder.send(frame)
        try encoder.sendEnd()
        let packet = try Packet()
        while try encoder.receive(into: packet) == .ready {}
    }
}
