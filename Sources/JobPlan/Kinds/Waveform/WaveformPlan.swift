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

extension WaveformPlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool {
        output.tracks.count == 1 && (1...PixelSize.maxSide).contains(size.width)
            && (1...PixelSize.maxSide).contains(size.height)
            && reading.samplesPerPixel > 0
    }

    /// Expectations of a waveform can't be evaluated again.
    package func isCacheable(_ output: OutputPlan) -> Bool { output.expectations.isEmpty }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        guard let frame = OutputCost.frame(of: output) else { return OutputCost() }
        // A waveform decodes the whole track.
        return OutputCost(
            memory: frame.area * 12 + frame.sourceArea * 24 + Int64(size.width) * Int64(size.height) * 8,
            work: frame.seconds / 200)
    }

    package func summary(of output: OutputPlan) -> String {
        let channels = reading.splitsChannels ? ", channels drawn separately" : ""
        return format.isDrawn
            ? "\(format.rawValue), \(size), \(measure.rawValue)\(channels)"
            : "\(format.rawValue), \(reading.samplesPerPixel) samples per pixel, \(bits.rawValue) bits\(channels)"
    }

    package func expectedText(of output: OutputPlan) -> String { "a waveform" }
}
