internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing

/// The work of a waveform output: reads an audio track and writes its waveform.
final class WaveformWork: OutputWork, Sendable {
    private let source: OutputSource
    private let waveform: WaveformPlan
    private let reader: WaveformReader

    init(_ source: OutputSource, waveform: WaveformPlan) {
        self.source = source
        self.waveform = waveform
        reader = WaveformReader(
            asset: source.asset, track: source.track, extent: source.task.input.extent,
            audio: source.encoding.audio ?? AudioOutputSettings())
    }

    var fraction: Double {
        let all = source.planned.expected.timeRange.duration.seconds
        return all > 0 ? min(1, reader.progress / all) : 0
    }

    func run() throws -> OutputFindings {
        let reader = reader
        try source.cancellation.begin { reader.cancel() }
        let data = try reader.read(waveform.reading)
        try write(data)
        var findings = OutputFindings()
        let end = MediaTime(
            value: Int64(data.sampleCount), timescale: Int32(clamping: max(1, data.sampleRate)))
        findings.tracks = [TrackReport(samples: data.sampleCount, end: end, damage: reader.damage)]
        return findings
    }

    private func write(_ data: WaveformData) throws {
        let writer = PartWriter(source.file)
        let image = WaveformImage(data, size: waveform.size, measure: waveform.measure)
        switch waveform.format {
        case .json: try writer.append(WaveformFile.json(data, bits: waveform.bits))
        case .dat: try writer.append(WaveformFile.dat(data, bits: waveform.bits))
        case .svg: try writer.append(image.svg(background: waveform.background, waveform: waveform.color))
        case .png:
            let frame = try image.frame(background: waveform.background, waveform: waveform.color)
            var configuration = EncoderConfiguration(
                encoder: "png", mediaType: .video, timeBase: Rational(1, 25))
            (configuration.width, configuration.height) = (frame.width, frame.height)
            configuration.pixelFormat = frame.pixelFormat
            try writer.append(frame, with: StillImageEncoder(configuration, limits: source.limits))
        }
    }
}
