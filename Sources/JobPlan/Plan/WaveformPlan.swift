package import Diagnostics
package import JobSpec
package import Media

/// The waveform that an output is.
package struct WaveformPlan: Codable, Hashable, Sendable {
    /// What it is written as.
    package var format: WaveformFormat
    /// In pixels, where it is drawn.
    package var size: PixelSize
    /// What is taken of the audio.
    package var reading: WaveformReader.Settings
    /// Bits of a value, where it is data.
    package var bits: WaveformFile.Bits
    /// What is behind it.
    package var background: WaveformImage.Color
    /// The waveform.
    package var color: WaveformImage.Color
    /// What a column shows.
    package var measure: WaveformImage.Measure
    /// Where it was asked for.
    package var location: SourceRange
}

extension WaveformPlan {
    /// Its figures can be.
    var isSound: Bool {
        (1...16_384).contains(size.width) && (1...16_384).contains(size.height) && reading.samplesPerPixel > 0
    }

    /// For people.
    var text: String {
        let channels = reading.splitsChannels ? ", each channel by itself" : ""
        return format.isDrawn
            ? "\(format.rawValue), \(size), \(measure.rawValue)\(channels)"
            : "\(format.rawValue), \(reading.samplesPerPixel) samples a pixel, \(bits.rawValue) bits\(channels)"
    }
}
