internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing

/// The comparison of existing outputs, and of checks that a source has passed, with the current plan.
struct OutputComparison: Sendable {
    let records: StateRecords
    let digests: TaskDigests
    let isForced: Bool

    /// Returns the digest of an output's plan and how the existing files relate to it.
    func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation) {
        guard let digest = digests.digest(of: task) else { return (nil, .other) }
        if !task.output.isPublished { return relation(ofCheck: task, by: digest) }
        // The relation of an output is the worst of those of its files.
        var (found, worst) = (digest, PlanDigest.Relation.current)
        for part in task.files {
            let (own, relation) = self.relation(of: part, by: digest)
            if case .current = relation {
                if own.value != digest.value { found = own }
            } else {
                worst = relation
            }
            if case .other = worst { return (digest, .other) }
        }
        return (found, worst)
    }

    /// Returns how one file relates to the plan.
    private func relation(
        of task: OutputTask, by digest: PlanDigest
    ) -> (digest: PlanDigest, relation: PlanDigest.Relation) {
        guard !isForced, let destination = task.output.destination,
            let now = TemporaryFile.fingerprint(path: destination)
        else { return (digest, .other) }
        let intent = records.intent(task.file, at: destination).flatMap { $0.output == now ? $0 : nil }
        // The old and the new file have equal size and time, so it is unknown which one this is.
        if let intent, intent.digest == nil { return (digest, .other) }
        let marked = DestinationPath.Mark.of(task)?.planDigest
        var kept = [intent?.digest, marked].compactMap { $0 }
        if let record = records.record(task.file, task.name),
            record.destination?.exact == destination.exact,
            record.output == now, let recorded = record.digest
        {
            kept.insert(recorded, at: 0)
        }
        var best: (kept: DigestValue?, relation: PlanDigest.Relation) = (nil, .other)
        func compare(_ digest: PlanDigest) {
            for one in kept where best.relation != .current && digest.relation(to: one) != .other {
                best = (one, digest.relation(to: one))
            }
        }
        compare(digest)
        if best.relation == .other, !kept.isEmpty { digests.digestForOtherMode(task).map(compare) }
        return (best.kept?.skippedDamage == true ? digest.afterDamage : digest, best.relation)
    }

    /// Returns the reasons why an output would be created or its expectations evaluated; empty if it is up to date.
    func reasons(for task: OutputTask) throws(StateError) -> RunReasons {
        if !task.output.isPublished { return try reasons(forCheck: task) }
        // The digest is computed once for all files: its cost grows with the number of still images, of which there may
        // be thousands.
        var known: PlanDigest??
        for part in task.files {
            guard let destination = part.output.destination else { continue }
            let reasons = try reasons(forFile: part, at: destination) {
                if known == nil { known = .some(digests.digest(of: task)) }
                return known ?? nil
            }
            if !reasons.lines.isEmpty { return reasons }
        }
        return RunReasons(lines: [])
    }

    private func reasons(
        forFile task: OutputTask, at destination: String, by makeDigest: () -> PlanDigest?
    ) throws(StateError) -> RunReasons {
        let mark = DestinationPath.mark(at: destination)
        let now = TemporaryFile.fingerprint(path: destination)
        let record = records.record(task.file, task.name)
        let intent = records.intent(task.file, at: destination)
        let isNew = record == nil && mark == nil && (intent == nil || intent?.output != now)
        let unknown = RunReasons(lines: [now == nil ? "no output yet" : "no record of an earlier run"])
        // Computing the digest takes half as long as planning, and a new output has no digest to compare with.
        if isNew, digests.mode == .stat { return unknown }
        guard let whole = makeDigest() else { return RunReasons(lines: ["the source can't be read"]) }
        let (digest, relation) = relation(of: task, by: whole)
        let before: PlanDigest?
        if let record, let store = records.store(of: task.file) {
            let output = StateStore.JobName(
                file: record.job.file, id: OutputName(record.job.id).whole.description)
            before = try store.digest(of: output)
        } else {
            before = nil
        }
        switch relation {
        case .current: return RunReasons(lines: [])
        case .unevaluated where task.output.isReevaluable:
            let lines = before.map { digest.expectationChanges(since: $0) } ?? []
            return RunReasons(
                lines: lines.isEmpty ? ["its expectations were not evaluated"] : lines,
                onlyEvaluates: true)
        case .unevaluated, .other: break
        }
        guard let record else { return unknown }
        guard let former = record.destination else {
            return RunReasons(lines: ["the job was a check before, without an output"])
        }
        if former.exact != destination.exact {
            return RunReasons(lines: ["its destination was \(former) and is \(destination)"])
        }
        guard let now else { return RunReasons(lines: ["its output no longer exists: \(destination)"]) }
        if record.output != now {
            return RunReasons(lines: ["its output was changed after it was published"])
        }
        return RunReasons(lines: before.map { digest.changes(since: $0) } ?? ["its plan changed"])
    }

    // MARK: Checks

    private static func isRemote(_ task: OutputTask) -> Bool {
        if case .file(let path, _) = task.input.source { SourceLocation.isRemote(path) } else { false }
    }

    /// Returns the digest of a check's plan, and how the recorded check relates to it.
    func relation(ofCheck task: OutputTask, by digest: PlanDigest) -> (
        digest: PlanDigest, relation: PlanDigest.Relation
    ) {
        guard !isForced, let recorded = records.checkRecord(task.file, task.name)?.digest else {
            return (digest, .other)
        }
        // A remote file is identified by its size alone, which doesn't reveal a change.
        if Self.isRemote(task) { return (digest, .other) }
        var relation = digest.relation(to: recorded)
        if relation == .other, let other = digests.digestForOtherMode(task) {
            relation = other.relation(to: recorded)
        }
        return (recorded.skippedDamage ? digest.afterDamage : digest, relation)
    }

    /// Returns the reasons why a check would run; empty if the source has passed it.
    func reasons(forCheck task: OutputTask) throws(StateError) -> RunReasons {
        guard let record = records.checkRecord(task.file, task.name) else {
            let isNew = records.record(task.file, task.name) == nil
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
        guard let digest = digests.digest(of: task) else {
            return RunReasons(lines: ["the source can't be read"])
        }
        let (current, relation) = relation(ofCheck: task, by: digest)
        if relation == .current { return RunReasons(lines: []) }
        let before = try records.store(of: task.file)?.digest(of: record.job)
        let changes = before.map { current.changes(since: $0) } ?? []
        return RunReasons(lines: changes.isEmpty ? ["its plan changed"] : changes)
    }
}
