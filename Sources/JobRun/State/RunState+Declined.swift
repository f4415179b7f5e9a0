package import JobPlan

/// Outputs that don't meet `publish_if`, and aren't created again while job and source are unchanged.
extension RunState {
    /// Returns the reason why an earlier run declined the output of a job (`OutputRecords`); nil if none did, and if the job's
    /// condition accepts that output now.
    package func declinedOutput(of plan: JobPlan) -> String? {
        guard !isForced, plan.publishIf != nil, plan.outputs.count == 1, let task = plan.tasks.first,
            let store = records.store(of: task.file), let name = records.jobName(task.file, task.name),
            let declined = store.results.declinedOutput(of: name), declined.size >= 0,
            let digest = digest(of: task),
            digest.relation(to: declined.digest) != .other
        else { return nil }
        return plan.refusal(ofOutputWithSize: declined.size)
    }

    /// Records that the output of a job was created, and not published (`OutputRecords`).
    package func declined(_ task: OutputTask, digest: PlanDigest, size: Int64) {
        guard let store = records.store(of: task.file), let name = records.jobName(task.file, task.name)
        else { return }
        store.results.record(StateStore.DeclinedOutput(digest: digest.value, size: size), of: name)
    }
}
