internal import Diagnostics
internal import ExactStrings
internal import FileSystem
package import JobSpec
internal import LibAV
internal import Media
internal import Publishing

/// Replanning of jobs after other jobs have published their sources.
extension BatchPlanner {
    /// Plans a job again whose source was predicted and now exists.
    package static func replan(
        _ plan: JobPlan, in files: [JobFile], prober: any SourceProber
    ) throws(PlanningError) -> JobPlan {
        guard let index = files.firstIndex(where: { $0.path.exact == plan.file.exact }),
            let job = files[index].jobs.first(where: { $0.id.value.exact == plan.id.exact })
        else { throw PlanningError(diagnostics: []) }
        var planner = BatchPlanner(files: files, prober: prober, memory: NoMemory())
        var sink = DiagnosticSink()
        planner.published = Self.outputs(read: plan, by: job)
        // Missing sources are reported by the run.
        guard !planner.published.isEmpty,
            planner.published.allSatisfy({ FileIdentity(path: $0.path) != nil })
        else { return plan }
        guard var fresh = planner.plan(job, in: index, into: &sink) else {
            throw PlanningError(diagnostics: sink.diagnostics)
        }
        for index in fresh.outputs.indices where plan.outputs.indices.contains(index) {
            fresh.outputs[index].markCopies(plannedBy: plan.outputs[index])
        }
        return fresh
    }

    /// Returns the outputs of other jobs that a job reads.
    private static func outputs(read plan: JobPlan, by job: JobSpec) -> [JobOutput] {
        guard let input = plan.inputs.first else { return [] }
        guard case .job(_, let path) = input.source, case .job(_, let run, let output) = job.asset.source
        else { return input.awaited }
        return [JobOutput(job: run, output: output?.value, path: path)]
    }

    /// Returns the path of a published output while its reader is planned again; nil otherwise. An output that was up
    /// to date from the start has the destination in the job file.
    mutating func published(_ run: String, _ output: String?, in index: Int) -> String? {
        guard !published.isEmpty else { return nil }
        if let result = published.first(where: { $0.job.exact == run.exact && $0.output == output }) {
            return result.path
        }
        let job = files[index].jobs.first { $0.id.value.exact == run.exact }
        return (job?.output(output)?.destination?.path).flatMap {
            destinations.resolve(files[index].absolutePath($0))?.path
        }
    }
}

extension OutputPlan {
    /// Marks tracks that are re-encoded although the earlier plan predicted a copy.
    fileprivate mutating func markCopies(plannedBy earlier: OutputPlan) {
        for (index, track) in tracks.enumerated() where earlier.tracks.indices.contains(index) {
            guard case .copy = earlier.tracks[index].action, case .encode = track.action else { continue }
            tracks[index].deviation =
                "\(track.label) is re-encoded" + (track.fallbackReason.map { ": \($0)" } ?? "")
        }
    }
}
