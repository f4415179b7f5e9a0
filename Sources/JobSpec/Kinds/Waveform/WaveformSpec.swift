package import Diagnostics
package import Media

/// The file format of a waveform.
package enum WaveformFormat: String, CaseIterable, Codable, Sendable {
    /// An image in pixels.
    case png
    /// A vector image.
    case svg
    /// Data in audiowaveform's JSON format.
    case json
    /// Data in audiowaveform's binary format.
    case dat

    /// Whether the format is an image.
    package var isDrawn: Bool { self == .png || self == .svg }

    /// Name of the format in the table of containers.
    package var containerName: String { "waveform-\(rawValue)" }
}

/// The configuration of a waveform of an audio track.
package struct WaveformSpec: Sendable {
    /// File format; nil while it depends on the matches of a pattern.
    package var format: WaveformFormat?
    /// Size of an image, in pixels.
    package var size: PixelSize
    /// Samples per pixel of a data file; nil for the default.
    package var samplesPerPixel: Located<Int>?
    /// Bits per value of a data file.
    package var bits: WaveformFile.Bits
    /// Background color of an image.
    package var background: WaveformImage.Color
    /// Color of the waveform in an image.
    package var color: WaveformImage.Color
    /// Whether each channel has its own waveform; otherwise the channels are averaged.
    package var splitsChannels: Bool
    /// Measure of the samples that each column of an image shows.
    package var measure: WaveformImage.Measure
    /// The value's location in the job file.
    package var range: SourceRange
}
