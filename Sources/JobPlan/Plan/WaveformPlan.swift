package import Diagnostics
package import JobSpec
package import Media

/// The plan of a waveform output.
package struct WaveformPlan: Codable, Hashable, Sendable {
    /// File format of the waveform.
    package var format: WaveformFormat
    /// Size in pixels, for drawn formats.
    package var size: PixelSize
    /// Settings for reading the audio.
    package var reading: WaveformReader.Settings
    /// Bits of a value, for data formats.
    package var bits: WaveformFile.Bits
    /// Color of the background.
    package var background: WaveformImage.Color
    /// Color of the waveform.
    package var color: WaveformImage.Color
    /// Measure that a column shows.
    package var measure: WaveformImage.Measure
    /// Location of the request in the job file.
    package var location: SourceRange
}

extension WaveformPlan {
    /// Whether the values are in their ranges.
    var isSound: Bool {
        (1...16_384).contains(size.width) && (1...16_384).contains(size.height) && reading.samplesPerPixel > 0
    }

    /// Description for the user.
    var text: String {
        let channels = reading.splitsChannels ? ", each channel by itself" : ""
        return format.isDrawn
            ? "\(format.rawValue), \(size), \(measure.rawValue)\(channels)"
            : "\(format.rawValue), \(reading.samplesPerPixel) samples a pixel, \(bits.rawValue) bits\(channels)"
    }
}
