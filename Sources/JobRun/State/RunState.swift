package import ExactStrings
package import JobPlan
package import LibAV
internal import Publishing

/// The state of earlier runs of the given job files, which this run updates.
///
/// A job is up to date if its output was created with the digest of the current plan and is unchanged. This is
/// determined in two ways: by the job file, before the source is probed (`upToDateOutputs`), and by the plan
/// (`relation`), which also uses the output's mark if the store has lost its record.
package final class RunState: PlanMemory, OutputRecords, Sendable {
    let records: StateRecords
    /// Digests of sources that this run has read.
    let contents: SourceContents
    let digests: TaskDigests
    let comparison: OutputComparison
    let shortcuts: ShortcutCheck
    package let isForced: Bool
    /// Whether nothing is written.
    let isReading: Bool
    /// Report entries of outputs.
    package let reports: StoredReports
    /// Warnings about outputs.
    package let warnings: StoredWarnings

    /// Opens the state of the given job files. `specs` contains the digest of everything from which each file's jobs
    /// were decoded; without it, the file's shortcuts are not used. With `isReading`, nothing is written.
    package convenience init(
        files: [String], folder: StateFolder?, environment: SourceEnvironment,
        specs: [ExactString: String], mode: FingerprintMode = .stat,
        isForced: Bool = false, isReading: Bool = false
    ) throws(StateError) {
        self.init(
            try StateRecords(files: files, folder: folder, beneath: environment.root, isReading: isReading),
            environment: environment, specs: specs, mode: mode, isForced: isForced, isReading: isReading)
    }

    /// Creates a state without stores, which uses only the marks of the outputs.
    package convenience init(isForced: Bool, environment: SourceEnvironment) {
        self.init(StateRecords(), environment: environment, specs: [:], mode: .stat, isForced: isForced)
    }

    private init(
        _ records: StateRecords, environment: SourceEnvironment, specs: [ExactString: String],
        mode: FingerprintMode, isForced: Bool, isReading: Bool = false
    ) {
        self.records = records
        (self.isForced, self.isReading) = (isForced, isReading)
        contents = SourceContents(environment)
        digests = TaskDigests(records: records, mode: mode, contents: contents)
        comparison = OutputComparison(records: records, digests: digests, isForced: isForced)
        shortcuts = ShortcutCheck(records, mode: mode, specs: specs, isForced: isForced)
        reports = StoredReports(records: records, shortcuts: shortcuts, root: environment.root)
        warnings = StoredWarnings(state: records)
    }

    /// Obsolete outputs.
    package var strays: StrayFinder { StrayFinder(records: records, root: contents.environment.root) }
    /// Earlier runs.
    package var history: RunHistory { RunHistory(records: records) }
    /// Folders whose database was damaged. It was replaced by a new one or, if nothing is written, ignored.
    package var damagedFolders: [StateFolder] { records.damagedFolders }

    // MARK: Plans (`PlanMemory`)

    /// Returns the published outputs of a job that is up to date and needs no planning; nil if it must be planned.
    package func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? {
        shortcuts.upToDateOutputs(of: query)
    }

    /// Returns whether a file without a mark was published for a job file.
    package func owns(_ path: String, for file: String) -> Bool { records.owns(path, for: file) }

    /// Returns whether the file at an output's destination was created by an equal plan.
    package func wasCreated(by task: OutputTask) -> Bool {
        guard let marked = DestinationPath.Mark.of(task)?.planDigest else { return false }
        return digests.digest(of: task).map { $0.relation(to: marked) != .other } ?? false
    }

    /// Returns the owner that marks of a job file's outputs contain.
    package func owner(ofFile path: String, at destination: String) -> String? {
        DestinationPath.Mark.owner(path, at: destination)
    }

    // MARK: Tasks

    /// Returns the digest of an output's plan; nil if the source can't be read.
    func digest(of task: OutputTask) -> PlanDigest? { digests.digest(of: task) }

    /// Returns the digest of an output's plan with the source identified by content; nil if the source can't be read, or is a
    /// URL.
    package func contentDigest(of task: OutputTask) -> PlanDigest? {
        if case .job = task.input.source { return nil }
        return TaskDigests(records: records, mode: .content, contents: contents).digest(
            of: task)
    }

    /// Returns the digest of a source's bytes; nil if it can't be read, or is a URL.
    func contentDigest(ofSource path: String) -> String? { contents.digest(of: path, in: records.all) }

    /// Returns the digest of an output's plan and how the existing files relate to it.
    package func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation) {
        comparison.relation(of: task)
    }

    /// Returns the reasons why an output of a job would be created, or why it was declined; empty if it is up to date.
    package func reasons(for task: OutputTask, of plan: JobPlan) throws(StateError) -> RunReasons {
        var reasons = try comparison.reasons(for: task)
        if reasons.lines.isEmpty { reasons.search = reports.search(of: task) }
        guard !reasons.lines.isEmpty, !reasons.onlyEvaluates, let declined = declinedOutput(of: plan) else {
            return reasons
        }
        return RunReasons(lines: [], omission: .declined(declined))
    }

    /// Returns the duration of the job when it last created the output, in seconds.
    package func seconds(of task: OutputTask) -> Double? { records.record(task.file, task.name)?.seconds }

    /// Returns the duration of a job's last success in seconds; nil if one of its outputs was never created.
    package func seconds(of plan: JobPlan) -> Double? {
        let all = plan.tasks.map { seconds(of: $0) }
        return all.contains { $0 == nil } ? nil : all.compactMap { $0 }.max()
    }
}
