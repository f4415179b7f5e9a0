internal import LibAV

/// Converts appended audio to the encoder's format (libswresample). A run of contiguous samples has exactly as many
/// samples at the encoder's rate as its duration requires. Confined to one queue.
final class AudioInputConverter {
    /// Sample rates that are resampled.
    static let rates: ClosedRange<Int32> = 1000...1_536_000

    private let output: AudioFormat
    private var input: AudioFormat?
    private var resampler: Resampler?
    /// Samples of the run received, at the input's rate, and returned, at the output's rate.
    private var (received, returned): (Int64, Int64) = (0, 0)

    init(to output: AudioFormat) { self.output = output }

    /// Number of samples of the run that the resampler still holds.
    var owed: Int {
        guard let input, input.sampleRate != output.sampleRate else { return 0 }
        let whole = Rational(1, input.sampleRate).rescale(received, to: Rational(1, output.sampleRate))
        return Int(max(0, whole - returned))
    }

    /// Whether audio of a format continues the run.
    func accepts(_ format: AudioFormat) -> Bool { input == nil || input == format }

    /// Prepares the conversion of a format; the run must have ended if `accepts` returns false. Throws if the format
    /// can't be converted.
    func prepare(for format: AudioFormat) throws(AVError) {
        guard input != format else { return }
        resampler = format == output ? nil : try Resampler.open(from: format, to: output)
        input = format
        (received, returned) = (0, 0)
    }

    /// Converts samples in the prepared format. The result may be empty.
    func convert(_ frame: consuming Frame) throws(AVError) -> Frame {
        received += Int64(frame.sampleCount)
        guard let result = try resampler?.convert(frame) else { return frame }
        returned += Int64(result.sampleCount)
        return result
    }

    /// Returns some of the samples that the resampler holds; nil at the end of the run.
    func drain() throws(AVError) -> Frame? {
        let owed = owed
        guard owed > 0, let rest = try resampler?.drain(min(owed, 16_384)) else {
            input = nil
            resampler = nil
            return nil
        }
        // The resampler may return fewer samples than the duration requires.
        let samples =
            rest.sampleCount > 0
            ? rest : try Frame.silence(output, samples: Int32(clamping: min(owed, 16_384)))
        returned += Int64(samples.sampleCount)
        return samples
    }
}
