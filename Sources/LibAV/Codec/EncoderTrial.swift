internal import Locking

/// Opens an encoder for a moment, to hear what it says of its settings; each distinct setting once a process.
public enum EncoderTrial {
    private static let known = Guarded<[EncoderConfiguration: String?]>([:])
    /// More distinct settings than any batch has; the rest is tried without being remembered.
    private static let capacity = 4096

    /// Why the encoder can't be opened so; nil where it can.
    public static func problem(_ configuration: EncoderConfiguration) -> String? {
        // SVT-AV1 1.4 never comes back from being closed before it was given a picture.
        if configuration.encoder == "libsvtav1" { return nil }
        var trial = configuration
        // The fewest threads that do: nothing is encoded.
        trial.threads = 1
        trial.pass = nil
        if let answer = known.withLock({ $0[trial] }) { return answer }
        var answer: String?
        do throws(AVError) {
            _ = try FrameEncoder.open(trial, globalHeaders: true)
        } catch {
            answer = error.detail ?? error.reason
        }
        let found = answer
        known.withLock { if $0.count < capacity { $0[trial] = .some(found) } }
        return found
    }
}
