package import Diagnostics
package import Media

/// What a waveform is written as.
package enum WaveformFormat: String, CaseIterable, Codable, Sendable {
    /// Drawn, in pixels.
    case png
    /// Drawn, in lines.
    case svg
    /// audiowaveform's data as text.
    case json
    /// audiowaveform's data as bytes.
    case dat

    /// It is drawn.
    package var isDrawn: Bool { self == .png || self == .svg }

    /// The name of its container model.
    package var containerName: String { "waveform-\(rawValue)" }
}

/// A waveform of a track of audio, as a job file says it.
package struct WaveformSpec: Sendable {
    /// What it is written as; nil while it hangs on what a pattern matches.
    package var format: WaveformFormat?
    /// In pixels, where it is drawn.
    package var size: PixelSize
    /// Samples in a pixel, where it is data.
    package var samplesPerPixel: Located<Int>?
    /// Bits of a value, where it is data.
    package var bits: WaveformFile.Bits
    /// What is behind it.
    package var background: WaveformImage.Color
    /// The waveform.
    package var color: WaveformImage.Color
    /// Each channel by itself.
    package var splitsChannels: Bool
    /// What a column shows.
    package var measure: WaveformImage.Measure
    /// Where it was written.
    package var range: SourceRange
}
