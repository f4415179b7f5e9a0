internal import ExactStrings
internal import JobSpec

/// The jobs of a call that are planned, up to date or refused so far. Later jobs read their outputs.
struct PlannedJobs {
    /// Plans in starting order.
    private(set) var plans: [JobPlan] = []
    /// Jobs that are up to date, with their positions in the job files.
    private(set) var upToDate: [(job: BatchPlan.UpToDateJob, entry: JobOrder.Entry)] = []
    /// Jobs whose conditions don't hold.
    private(set) var skips: [BatchPlan.Skip] = []
    /// Jobs that can't be planned, with the reasons.
    private(set) var refusals: [BatchPlan.Refusal] = []
    private var planIndices: [InstanceKey: Int] = [:]
    private var upToDateIndices: [InstanceKey: Int] = [:]
    private(set) var skipped: Set<InstanceKey> = []

    mutating func add(_ plan: JobPlan, at entry: JobOrder.Entry) {
        planIndices[InstanceKey(file: entry.file, id: plan.id)] = plans.count
        plans.append(plan)
    }

    mutating func add(upToDate job: BatchPlan.UpToDateJob, at entry: JobOrder.Entry) {
        upToDateIndices[InstanceKey(file: entry.file, id: job.id)] = upToDate.count
        upToDate.append((job, entry))
    }

    mutating func add(_ skip: BatchPlan.Skip, inFile file: Int) {
        skipped.insert(InstanceKey(file: file, id: skip.id))
        skips.append(skip)
    }

    mutating func add(_ refusal: BatchPlan.Refusal) { refusals.append(refusal) }

    /// Returns the destination of an output of a job that is up to date; nil for any other job.
    func upToDateDestination(of instance: String, _ output: String?, in file: Int) -> String? {
        upToDateIndices[InstanceKey(file: file, id: instance)].flatMap {
            upToDate[$0].job.destination(of: output)
        }
    }

    /// Returns the outputs that a job of a file reads.
    func outputs(readBy job: JobSpec, in file: Int) -> ReadOutputs {
        var read = ReadOutputs()
        for part in job.asset.parts {
            guard case .job(_, let instance, let written) = part.source else { continue }
            let output = written?.value
            if let path = upToDateDestination(of: instance, output, in: file) {
                read[instance, output] = .published(path: path)
                continue
            }
            if skipped.contains(InstanceKey(file: file, id: instance)) {
                read[instance, output] = .skipped
                continue
            }
            guard let index = planIndices[InstanceKey(file: file, id: instance)] else { continue }
            read[instance, output] = plans[index].tasks.first { $0.output.id == output }.map { .planned($0) }
        }
        return read
    }
}
