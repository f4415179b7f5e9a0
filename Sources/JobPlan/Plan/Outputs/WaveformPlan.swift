package import Diagnostics
package import JobSpec
package import Media

/// The plan of a waveform output.
package struct WaveformPlan: Codable, Hashable, Sendable {
    package var format: WaveformFormat
    /// Size in pixels, for drawn formats.
    package var size: PixelSize
    /// Settings for reading the audio.
    package var reading: WaveformReader.Settings
    /// Sample size, for data formats.
    package var bits: WaveformFile.Bits
    package var background: WaveformImage.Color
    /// Color of the graph.
    package var color: WaveformImage.Color
    /// Measure of the samples that a column shows.
    package var measure: WaveformImage.Measure
    /// Location of the request in the job file.
    package var location: SourceRange
}

extension WaveformPlan {
    /// Whether the values are in their ranges. Checked for plans from untrusted input.
    var isValid: Bool {
        (1...16_384).contains(size.width) && (1...16_384).contains(size.height) && reading.samplesPerPixel > 0
    }

    /// Description of the waveform for the user.
    var text: String {
        let channels = reading.splitsChannels ? ", channels drawn separately" : ""
        return format.isDrawn
            ? "\(format.rawValue), \(size), \(measure.rawValue)\(channels)"
            : "\(format.rawValue), \(reading.samplesPerPixel) samples per pixel, \(bits.rawValue) bits\(channels)"
    }
}
