internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import JobSpec
internal import Media
internal import Publishing
internal import Synchronization

/// Admission of jobs: dependencies and free disk space.
extension BatchRunner {
    /// Returns the reason why a job can't start although all its dependencies have ended; nil if it can.
    func blockingReason(for job: JobPlan) -> String? {
        func failed(_ id: String) -> Bool {
            outcomes[JobKey(file: job.file, id: id)].map { !$0.isSuccess } ?? false
        }
        if let id = job.readJobs.first(where: failed) {
            return "the job `\(id)`, whose output it reads, did not succeed"
        }
        for need in job.needs where !jobsWithInstances.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, has no instance"
        }
        for need in job.needs where failures.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, did not succeed"
        }
        return nil
    }

    /// Returns the disk space that a job's outputs are estimated to need, and the reason if it isn't available in
    /// addition to the space reserved by running jobs.
    func spaceEstimate(for job: JobPlan) -> SpaceEstimate {
        let estimate = spaceEstimate(for: job, without: [])
        // Outputs that are up to date need no space. Identifying them requires a digest or reading the whole source, so
        // this is done only if space is short.
        guard estimate.shortage != nil, job.outputs.count > 1, let state else { return estimate }
        let upToDate = job.tasks.filter { state.relation(of: $0).relation != .other }
        return upToDate.isEmpty
            ? estimate
            : self.spaceEstimate(for: job, without: Set(upToDate.compactMap(\.output.destination?.exact)))
    }

    private func spaceEstimate(for job: JobPlan, without upToDate: Set<ExactString>) -> SpaceEstimate {
        var estimate = SpaceEstimate(usage: [])
        for output in job.outputs {
            guard let destination = output.destination, !upToDate.contains(destination.exact),
                let size = output.expectedSize.map({
                    $0.adding(upToLimit: output.kind.plan.isCopiedToPublish ? $0 : 0)
                })
            else { continue }
            add(size, at: destination, to: &estimate) { free in
                "the estimated size of the output is \(PlanText.bytes(size)) for \(PlanText.time(output.expectedDuration)), but only \(PlanText.bytes(free)) are free at \(destination); `limit: { size }` overrides the estimate"
            }
        }
        if let folder = policy.passStatisticsFolder, job.passStatisticsSize > 0 {
            let size = job.passStatisticsSize
            add(size, at: folder + "/notes", to: &estimate) { free in
                "the estimated size of the two-pass statistics is \(PlanText.bytes(size)), but only \(PlanText.bytes(free)) are free in \(folder)"
            }
        }
        return estimate
    }

    /// Adds `size` bytes to a job's estimate. Sets `shortage` if running jobs and the estimate together exceed the free
    /// space.
    private func add(
        _ size: Int64, at path: String, to estimate: inout SpaceEstimate, shortage: (_ free: Int64) -> String
    ) {
        guard let space = policy.freeSpace(path) else { return }
        let taken = (running.values.flatMap(\.diskUsage) + estimate.usage).reduce(Int64(0)) { sum, usage in
            usage.fileSystem == space.fileSystem ? sum.adding(upToLimit: usage.bytes) : sum
        }
        estimate.usage.append(RunPolicy.FreeSpace(fileSystem: space.fileSystem, bytes: size))
        if taken.adding(upToLimit: size) > space.bytes {
            estimate.shortage = estimate.shortage ?? shortage(space.bytes)
        }
    }

    /// The estimated disk space of a job, and the reason if it isn't available.
    struct SpaceEstimate {
        var usage: [RunPolicy.FreeSpace]
        var shortage: String?
    }

    /// Removes temporary files of killed runs from a destination's folder, once per folder. `destination` is nil for a
    /// check, which writes no files.
    func removeAbandonedFiles(inFolderOf destination: String?) {
        guard let destination else { return }
        let (folder, _) = Self.split(destination)
        if cleanedFolders.insert(folder.exact).inserted {
            _ = TemporaryFile.removeAbandonedParts(in: folder, of: namesByFolder[folder.exact] ?? [])
        }
    }

    /// Returns a file of `plan` that is also the destination of another output of this run; nil if there is none.
    /// `prediction` is the plan from before the source existed; its files were checked at planning.
    func destinationConflict(of plan: JobPlan, predicted prediction: JobPlan) -> String? {
        let known = Set(prediction.outputs.flatMap(\.files).map(\.exact))
        return plan.outputs.flatMap(\.files).first { path in
            let (folder, name) = Self.split(path)
            return !known.contains(path.exact) && namesByFolder[folder.exact]?.contains(name.exact) == true
        }
    }
}
