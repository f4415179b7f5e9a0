/// Opens an encoder for a moment, to hear what it says of its settings.
public enum EncoderTrial {
    /// Why the encoder can't be opened so; nil where it can.
    public static func problem(_ configuration: EncoderConfiguration) -> String? {
        // SVT-AV1 1.4 never comes back from being closed before it was given a picture.
        if configuration.encoder == "libsvtav1" { return nil }
        var trial = configuration
        // The fewest threads that do: nothing is encoded.
        trial.threads = 1
        trial.pass = nil
        do throws(AVError) {
            _ = try FrameEncoder.open(trial, globalHeaders: true)
            return nil
        } catch {
            return error.detail ?? error.reason
        }
    }
}
