internal import Diagnostics
internal import ExactStrings
package import JobSpec
package import Publishing

/// Replanning of jobs after other jobs have published their sources.
extension BatchPlanner {
    /// The result of planning a job again.
    package enum Replanned: Sendable {
        case plan(JobPlan)
        /// The job is skipped, because a condition on its source doesn't hold; the value is the reason.
        case skip(String)

        /// The plan; nil for a job that is skipped.
        package var plan: JobPlan? { if case .plan(let plan) = self { plan } else { nil } }
    }

    /// Plans a job again whose source was predicted and now exists.
    package static func replan(
        _ plan: JobPlan, in files: [JobFile], prober: any SourceProber, disk: any DiskQueries = SystemDisk()
    ) throws(PlanningError) -> Replanned {
        guard let file = files.first(where: { $0.path.exact == plan.file.exact }),
            let job = file.jobs.first(where: { $0.id.value.exact == plan.id.exact })
        else { throw PlanningError(diagnostics: []) }
        let published = outputs(read: plan, by: job)
        // Missing sources are reported by the run.
        guard !published.isEmpty, published.allSatisfy({ disk.identity(of: $0.path) != nil }) else {
            return .plan(plan)
        }
        var destinations = DestinationTable(on: disk)
        let decision = JobPlanner(
            job: job, file: file, catalog: SourceCatalog(files, prober: prober, disk: disk),
            outputs: readOutputs(of: job, in: file, published, &destinations), destinationCheck: nil
        ).decide(&destinations)
        if case .skip(let skip) = decision.value { return .skip(skip.reason) }
        guard var fresh = decision.value?.plan else {
            throw PlanningError(diagnostics: decision.reasons.diagnostics.diagnostics)
        }
        for index in fresh.outputs.indices where plan.outputs.indices.contains(index) {
            fresh.outputs[index].markCopies(plannedBy: plan.outputs[index])
        }
        return .plan(fresh)
    }

    /// Returns the outputs of other jobs that a plan reads.
    private static func outputs(read plan: JobPlan, by job: JobSpec) -> [JobOutput] {
        guard let input = plan.inputs.first else { return [] }
        guard case .job(_, let path) = input.source, case .job(_, let run, let output) = job.asset.source
        else { return input.awaited }
        return [JobOutput(job: run, output: output?.value, path: path)]
    }

    /// Returns all outputs of other jobs that a job reads: those that were published for its plan, and those that were
    /// up to date from the start, which have the destinations in the job file.
    private static func readOutputs(
        of job: JobSpec, in file: JobFile, _ published: [JobOutput], _ destinations: inout DestinationTable
    ) -> ReadOutputs {
        var read = ReadOutputs()
        for part in job.asset.parts {
            guard case .job(_, let run, let written) = part.source else { continue }
            let output = written?.value
            var path = published.first { $0.job.exact == run.exact && $0.output == output }?.path
            if path == nil {
                let spec = file.jobs.first { $0.id.value.exact == run.exact }?.output(output)
                path = (spec?.destination?.path).flatMap {
                    destinations.resolve(file.absolutePath($0))?.path
                }
            }
            read[run, output] = path.map { .published(path: $0) }
        }
        return read
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
