import Diagnostics
import JobSpec
import LibAV
import Testing

@testable import JobPlan

extension JobPlan {
    /// Returns the plan of a job that reads outputs of other jobs, by their ids; a file if `reads` is empty.
    static func planned(
        _ id: String = "one", needs: [String] = [], reads: [String] = [], in file: String = "jobs.yaml",
        outputs: [OutputPlan] = []
    ) throws -> JobPlan {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let sources: [InputPlan.Source] =
            reads.isEmpty ? [.file] : reads.map { .job(id: $0, path: "/\($0).mp4") }
        let inputs = sources.map {
            InputPlan(job: snippet.job, ResolvedInput($0, .file(.video())), PlannedExtent())
        }
        return JobPlan(
            id: id, base: InstanceName(id).base, needs: needs, file: file, location: snippet.job.id.range,
            inputs: inputs, outputs: outputs, scheduling: JobScheduling())
    }
}

extension OutputPlan {
    /// Returns an output with the given tracks, of the kind `media` by default. `seconds` is its expected duration.
    static func planned(
        _ tracks: TrackPlan..., lasting seconds: Double = 10, from input: Int = 0,
        as kind: OutputKind = .media(MediaPlan())
    ) -> OutputPlan {
        let location = SourceRange.startOfFile("jobs.yaml")
        var output = OutputPlan(
            location: location, container: "mp4", kind: kind, destination: "/o.mp4",
            destinationLocation: location, tracks: tracks, expectedDuration: s(seconds))
        output.input = input
        return output
    }
}

extension OutputKind {
    /// A check that decodes its source.
    static let decodingCheck = OutputKind.check(
        CheckPlan(decodes: true, location: .startOfFile("jobs.yaml")))
}

extension TargetQuality {
    /// Returns a target of 0.98 SSIM for libx264.
    static func planned() throws -> TargetQuality {
        let spec = QualitySpec(
            metric: .ssim, value: 0.98, pool: .mean, within: QualitySpec.defaultWithin(.ssim), crf: nil)
        let model = try #require(EncoderModel.named("libx264"))
        return try #require(
            TargetQuality(
                Located(spec, at: .startOfFile("jobs.yaml")), encoder: model, ranges: [],
                tick: Rational(1, 25)))
    }
}

extension TargetSize {
    /// A target of 1 MB.
    static let planned = TargetSize(bytes: 1_000_000, location: .startOfFile("jobs.yaml"))
}
