internal import Diagnostics
internal import LibAV
package import Media

/// A gain of several files: those of all instances of a job, or of a job's `group`.
package struct SharedGain: Codable, Hashable, Sendable {
    /// Target loudness of all files together.
    package var target: LoudnessTarget
    /// Measurement of all files; nil before they are measured.
    package var measured: Measured?

    /// A measurement of several files.
    package struct Measured: Codable, Hashable, Sendable {
        /// Number of files.
        package var files: Int
        /// Integrated loudness in LUFS; nil for silence, and for files shorter than a block of EBU R128 (0.4 s).
        package var integrated: Double?
        /// Maximum true peak in dBTP.
        package var truePeak: Double

        /// Whether the values are possible; a saved plan may have others.
        var isValid: Bool {
            files > 0 && LoudnessBlocks.peaks.contains(truePeak) && (-70...1000).contains(integrated ?? 0)
        }
    }

    package init(_ target: LoudnessTarget) { self.target = target }

    /// Gain in dB, in hundredths: the one that the target requires, or the highest one that the peaks allow; 0 if no
    /// loudness could be measured.
    var decibels: Double {
        guard let required = requiredDecibels else { return 0 }
        return min(required, allowedDecibels)
    }

    /// Gain in dB by which the loudness reaches the target; nil if no loudness could be measured.
    private var requiredDecibels: Double? {
        measured?.integrated.map { Self.hundredths(target.integrated - $0) }
    }

    /// Highest gain in dB with which no peak exceeds the target's.
    private var allowedDecibels: Double {
        measured.map { Self.hundredths(target.truePeak - $0.truePeak) } ?? 0
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded(.down) / 100 }

    /// The gain with its reason, such as `gain 2.5 dB for 3 files of -18.5 LUFS`.
    var text: String {
        guard let measured, let integrated = measured.integrated else {
            return "no gain: no file has a loudness above -70 LUFS and lasts 0.4 s"
        }
        return
            "gain \(decimals(decibels)) dB for \(counted(measured.files, "file")) of \(decimals(integrated)) LUFS"
    }

    /// The reason why the files don't reach the target; nil if they do.
    var shortfall: String? {
        guard let measured, let required = requiredDecibels, allowedDecibels < required else { return nil }
        return
            "the gain is \(decimals(required - allowedDecibels)) dB lower than \(target.integrated) LUFS require: the true peak of a file is \(decimals(measured.truePeak)) dBTP"
    }

    private func decimals(_ value: Double) -> String {
        ThousandthsText.text(Int((value * 100).rounded()) * 10)
    }
}
