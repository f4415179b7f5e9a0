internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV

/// The disk space that running jobs are estimated to need, by job.
struct SpaceReservations {
    /// Function that returns the free space of the file system of a path; nil if it can't be determined.
    let freeSpace: @Sendable (_ path: String) -> RunPolicy.FreeSpace?
    /// Folder of two-pass statistics; nil if their size isn't checked.
    let passStatisticsFolder: String?
    private var reserved: [JobKey: [RunPolicy.FreeSpace]] = [:]

    /// The estimated disk space of a job, and the reason if it isn't available.
    struct Estimate {
        /// File systems to which the job writes outputs and two-pass statistics, with the estimated bytes.
        var usage: [RunPolicy.FreeSpace] = []
        var shortage: String?
    }

    init(_ policy: RunPolicy) {
        (freeSpace, passStatisticsFolder) = (policy.freeSpace, policy.passStatisticsFolder)
    }

    /// Reserves the space of a job that starts.
    mutating func reserve(_ usage: [RunPolicy.FreeSpace], for key: JobKey) { reserved[key] = usage }

    /// Releases the space of a job that has ended.
    mutating func release(_ key: JobKey) { reserved[key] = nil }

    /// Returns the disk space that a job's outputs are estimated to need, and the reason if it isn't available in
    /// addition to the reserved space. `isUpToDate` identifies outputs that need no space. That requires a digest, or
    /// reading the whole source; it is therefore called only if space is short.
    func estimate(for job: JobPlan, isUpToDate: (OutputTask) -> Bool) -> Estimate {
        let estimate = estimate(for: job, without: [])
        guard estimate.shortage != nil, job.outputs.count > 1 else { return estimate }
        let upToDate = job.tasks.filter(isUpToDate)
        return upToDate.isEmpty
            ? estimate
            : self.estimate(for: job, without: Set(upToDate.compactMap(\.output.destination?.exact)))
    }

    private func estimate(for job: JobPlan, without upToDate: Set<ExactString>) -> Estimate {
        var estimate = Estimate()
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
        if let folder = passStatisticsFolder, job.passStatisticsSize > 0 {
            let size = job.passStatisticsSize
            add(size, at: folder + "/notes", to: &estimate) { free in
                "the estimated size of the two-pass statistics is \(PlanText.bytes(size)), but only \(PlanText.bytes(free)) are free in \(folder)"
            }
        }
        return estimate
    }

    /// Adds `size` bytes to a job's estimate. Sets `shortage` if the reserved space and the estimate together exceed the
    /// free space.
    private func add(
        _ size: Int64, at path: String, to estimate: inout Estimate, shortage: (_ free: Int64) -> String
    ) {
        guard let space = freeSpace(path) else { return }
        let taken = (reserved.values.joined() + estimate.usage).reduce(Int64(0)) { sum, usage in
            usage.fileSystem == space.fileSystem ? sum.adding(upToLimit: usage.bytes) : sum
        }
        estimate.usage.append(RunPolicy.FreeSpace(fileSystem: space.fileSystem, bytes: size))
        if taken.adding(upToLimit: size) > space.bytes {
            estimate.shortage = estimate.shortage ?? shortage(space.bytes)
        }
    }
}
