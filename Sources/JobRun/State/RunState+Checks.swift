package import JobPlan

/// Recording of checks. A check writes no file, so the store's record is the only evidence that a source passed:
/// without it, the check runs again.
extension RunState {
    /// Records that a source passed a check, now or in an earlier run.
    package func passed(_ task: OutputTask, digest: PlanDigest, seconds: Double) {
        storeRecord(task, digest, shortcut: shortcuts.shortcut(of: task), seconds: seconds)
    }

    /// Records that a source failed a check. An earlier pass no longer counts, even if the source is unchanged.
    package func failed(check task: OutputTask) {
        guard records.checkRecord(task.file, task.name) != nil else { return }
        storeRecord(task, nil, shortcut: nil, seconds: 0)
    }

    private func storeRecord(_ task: OutputTask, _ digest: PlanDigest?, shortcut: Shortcut?, seconds: Double)
    {
        guard let store = records.store(of: task.file), let job = records.jobName(task.file, task.name) else {
            return
        }
        store.record(
            StateStore.Record(
                job: job, shortcut: shortcut, digest: digest?.value, destination: nil,
                output: digest?.value.text ?? "", seconds: seconds),
            digest: digest)
    }
}
