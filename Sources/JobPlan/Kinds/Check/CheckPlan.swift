package import Diagnostics
internal import LibAV
internal import Media
package import Publishing

/// The plan of a check, which reads a source and writes nothing. The output's tracks are the tracks that are read.
package struct CheckPlan: Codable, Hashable, Sendable {
    /// Whether video and audio are decoded; otherwise all packets are read.
    package var decodes: Bool
    /// Location of `check` in the job file.
    package var location: SourceRange
}

extension CheckPlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool { !output.tracks.isEmpty }

    package var destinationKind: DestinationPath.Kind? { nil }

    /// A check has no output, and reads its source again.
    package var isReevaluable: Bool { false }

    package func isCacheable(_ output: OutputPlan) -> Bool { false }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        output.tracks.reduce(OutputCost()) { $0 + Self.cost(of: $1) }
    }

    private static func cost(of track: TrackPlan) -> OutputCost {
        let seconds = max(0, track.expected.timeRange.duration.seconds)
        guard case .read(decodes: true) = track.action else { return OutputCost(work: seconds / 2000) }
        guard track.source.mediaType == .video else { return OutputCost(work: seconds / 200) }
        let area = Int64(track.source.width) * Int64(track.source.height)
        let rate = track.source.frameRate.map { Double($0.num) / Double($0.den) } ?? 25
        // A decoder needs about a fifth of the time of an encoder with fast settings.
        return OutputCost(
            cores: Double(min(8, max(1, area / 921_600))), memory: area * 48,
            work: seconds * rate * Double(area) / 100e6)
    }

    package var title: String { "check" }

    package func summary(of output: OutputPlan) -> String {
        decodes ? "decodes video and audio, writes nothing" : "reads packets, writes nothing"
    }

    package func expectedText(of output: OutputPlan) -> String {
        "\(PlanText.time(output.expectedDuration)) of the source"
    }
}
