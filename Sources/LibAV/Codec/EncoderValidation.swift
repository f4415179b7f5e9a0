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
        var settings = configuration
        // One thread suffices, since at most one frame is encoded.
        settings.threads = 1
        settings.pass = nil
        let needsFrame = configuration.model?.operation.isShared == true
        // Encoding a frame takes up to six seconds at 1920x1080; the validity of settings doesn't depend on
        // the size.
        if needsFrame {
            (settings.width, settings.height) = (min(settings.width, 256), min(settings.height, 144))
        }
        let encoder = try FrameEncoder.open(settings, globalHeaders: true)
        if needsFrame { try encodeOne(settings, encoder) }
        return encoder.parameters
    }

    /// Encodes a frame and drains the encoder: SVT-AV1 1.4 blocks if it is closed without having encoded a frame.
    private static func encodeOne(
        _ settings: EncoderConfiguration, _ encoder: borrowing FrameEncoder
    ) throws(AVError) {
        let frame = try Frame.black(
            FrameFormat(
                width: settings.width, height: settings.height, format: settings.pixelFormat,
                sampleAspectRatio: settings.sampleAspectRatio ?? Rational(0, 1), color: settings.color))
        _ = try encoder.send(frame)
        try encoder.sendEnd()
        let packet = try Packet()
        while try encoder.receive(into: packet) == .ready {}
    }
}
