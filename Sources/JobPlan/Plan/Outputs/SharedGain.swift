internal import Diagnostics
internal import LibAV
package import Media

/// The gain that a track has in common with other files: those of all instances of a job, or of a job's `group`.
package struct SharedGain: Codable, Hashable, Sendable {
    /// Target loudness of all files together.
    package var target: LoudnessTarget
    /// Number of files, and what was measured in them; nil until they are measured.
    package var measured: Measured?

    package struct Measured: Codable, Hashable, Sendable {
        package var files: Int
        /// Integrated loudness in LUFS; nil for silence.
        package var integrated: Double?
        /// Maximum true peak in dBTP.
        package var truePeak: Double
    }

    package init(_ target: LoudnessTarget) { self.target = target }

    /// Whether the values are possible; a saved plan may have others.
    var isValid: Bool {
        guard let measured else { return false }
        return measured.files > 0 && (-120...60).contains(measured.truePeak)
            && (-70...60).contains(measured.integrated ?? 0)
    }

    /// Gain in dB, in hundredths: the one that the target requires, or the highest one that its peak allows; 0 for silence.
    var decibels: Double { min(requiredDecibels, allowedDecibels) }

    /// Gain in dB by which the loudness reaches the target.
    private var requiredDecibels: Double {
        measured?.integrated.map { Self.hundredths(target.integrated - $0) } ?? 0
    }

    /// Highest gain in dB with which no peak exceeds the target's.
    private var allowedDecibels: Double {
        measured.map { Self.hundredths(target.truePeak - $0.truePeak) } ?? 0
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded(.down) / 100 }

    /// The gain with its reason, such as `gain 2.50 dB for 3 files of -18.50 LUFS`.
    var text: String {
        guard let measured, let integrated = measured.integrated else {
            return "no gain: the files are silent"
        }
        return
            "gain \(decimals(decibels)) dB for \(counted(measured.files, "file")) of \(decimals(integrated)) LUFS"
    }

    /// The reason why the files don't reach the target; nil if they do.
    var shortfall: String? {
        guard let measured, measured.integrated != nil, allowedDecibels < requiredDecibels else { return nil }
        return
            "the gain is \(decimals(requiredDecibels - allowedDecibels)) dB lower than \(target.integrated) LUFS require: the true peak of a file is \(decimals(measured.truePeak)) dBTP"
    }

    private func decimals(_ value: Double) -> String {
        ThousandthsText.text(Int((value * 100).rounded()) * 10)
    }
}
