internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Compares expectations with the plan, and reports expectations that can't be met before the job starts.
struct ExpectationForecast {
    private let task: OutputTask
    private var plan: OutputPlan { task.output }
    private let output: SourceDescription

    init(_ task: OutputTask) {
        self.task = task
        output = SourceDescription(predictedBy: task)
    }

    /// Reports an error for each expectation that can't be met, at its location.
    func report(into sink: inout DiagnosticSink) {
        for expectation in plan.expectations {
            guard let found = contradiction(expectation.check) else { continue }
            sink.error(
                .expectationImpossible,
                "\(plan.id.map { "\($0): " } ?? "")expected \(expectation.check.text), but the plan produces \(found)",
                at: expectation.location)
        }
    }

    /// Returns the planned value that contradicts an expectation; nil if the expectation may be met.
    private func contradiction(_ check: Expectation.Check) -> String? {
        switch check {
        case .duration(let expected, let within):
            let length = plan.expectedDuration
            let off = length > expected ? length - expected : expected - length
            // Encoders pad their last packet, and containers round durations.
            let slack = within + MediaTime(value: 1, timescale: 4)
            return task.isPredictedExactly && off > slack ? "\(length) s" : nil
        case .frames(let count):
            guard let video = plan.tracks.first(where: { $0.source.mediaType == .video }) else {
                return "no video"
            }
            guard task.isPredictedExactly, let frames = video.expected.frames, frames != count else {
                return nil
            }
            return "\(frames)"
        case .property(let type, let name, let value):
            guard let position = plan.tracks.firstIndex(where: { $0.source.mediaType == type }),
                position < output.tracks.count
            else {
                // A cover does not count as a video track.
                return "no \(type.rawValue)"
            }
            guard
                let found = property(name, of: output.tracks[position], planned: plan.tracks[position])
            else { return nil }
            return found == value ? nil : found
        case .loudness, .truePeak, .silence:
            return plan.tracks.contains { $0.source.mediaType == .audio } ? nil : "no audio"
        case .black, .similarity:
            return plan.tracks.contains { $0.source.mediaType == .video } ? nil : "no video"
        case .size, .decodes: return nil
        }
    }

    /// Returns a property that the plan determines; nil if the encoder or the container may change it.
    private func property(
        _ name: Expectation.TrackProperty, of track: TrackDescription, planned: TrackPlan
    ) -> String? {
        let isEncoded = if case .encode = planned.action { true } else { false }
        switch name {
        case .codec: return track.codec
        case .width: return "\(track.width)"
        case .height: return "\(track.height)"
        case .pixelFormat: return isEncoded ? track.pixelFormat.description : nil
        case .sampleRate:
            let hasOwnRate = CodecCatalog.codec(track.codec, of: .audio)?.codec.hasOwnSampleRate == true
            return isEncoded && !hasOwnRate ? "\(track.sampleRate)" : nil
        case .channels: return isEncoded ? track.channelLayout?.specified.description : nil
        case .profile, .frameRate, .language: return nil
        }
    }
}
