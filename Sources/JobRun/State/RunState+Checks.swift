package import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Recording of checks. A check writes no file, so the store's record is the only evidence that a source passed:
/// without it, the check runs again.
extension RunState {
    /// Records that a source passed a check, now or in an earlier run.
    package func passed(_ task: OutputTask, digest: PlanDigest, seconds: Double) {
        storeRecord(task, digest, shortcut: shortcut(of: task), seconds: seconds)
    }

    /// Records that a source failed a check. An earlier pass no longer counts, even if the source is unchanged.
    package func failed(check task: OutputTask) {
        guard checkRecord(task.file, task.name) != nil else { return }
        storeRecord(task, nil, shortcut: nil, seconds: 0)
    }

    private func storeRecord(_ task: OutputTask, _ digest: PlanDigest?, shortcut: String?, seconds: Double) {
        guard let store = store(of: task.file), let job = jobName(task.file, task.name) else { return }
        store.record(
            StateStore.Record(
                job: job, shortcut: shortcut, digest: digest?.value, destination: nil,
                output: digest?.value.text ?? "", seconds: seconds),
            digest: digest)
    }

    private static func isRemote(_ task: OutputTask) -> Bool {
        if case .file(let path, _) = task.input.source { SourceLocation.isRemote(path) } else { false }
    }

    /// Returns the record of a check. It has no digest if the source failed after it had passed.
    func checkRecord(_ file: String, _ name: String) -> StateStore.Record? {
        record(file, name).flatMap { $0.destination == nil ? $0 : nil }
    }

    /// Returns the digest of a check's plan, and how the recorded check relates to it.
    func relation(ofCheck task: OutputTask, by digest: PlanDigest) -> (
        digest: PlanDigest, relation: PlanDigest.Relation
    ) {
        guard !isForced, let recorded = checkRecord(task.file, task.name)?.digest else {
            return (digest, .other)
        }
        // A remote file is identified by its size alone, which doesn't reveal a change.
        if Self.isRemote(task) { return (digest, .other) }
        var relation = digest.relation(to: recorded)
        if relation == .other, let other = digestForOtherMode(task) {
            relation = other.relation(to: recorded)
        }
        return (recorded.skippedDamage ? digest.afterDamage : digest, relation)
    }

    /// Returns the reasons why a check would run; empty if the source has passed it.
    func reasons(forCheck task: OutputTask) throws(StateError) -> RunReasons {
        guard let record = checkRecord(task.file, task.name) else {
            let isNew = self.record(task.file, task.name) == nil
            return RunReasons(lines: [
                isNew
                    ? "the source has not passed the check yet"
                    : "the job had an output before, and is a check now"
            ])
        }
        if record.digest == nil { return RunReasons(lines: ["the source failed the check"]) }
        if Self.isRemote(task) {
            return RunReasons(lines: ["the source is a URL, whose content may have changed"])
        }
        guard let digest = digest(of: task) else { return RunReasons(lines: ["the source can't be read"]) }
        let (current, relation) = relation(ofCheck: task, by: digest)
        if relation == .current { return RunReasons(lines: []) }
        let before = try store(of: task.file)?.digest(of: record.job)
        let changes = before.map { current.changes(since: $0) } ?? []
        return RunReasons(lines: changes.isEmpty ? ["its plan changed"] : changes)
    }
}
