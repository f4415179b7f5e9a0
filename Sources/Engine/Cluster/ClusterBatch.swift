internal import Diagnostics
package import FileSystem
package import JobRun
internal import JobPlan
package import JobStages

/// A batch whose parts engines run: a plan in parts in a shared folder, and its submissions.
package struct ClusterBatch: Sendable {
    /// Absolute path of the folder.
    package let path: String
    private let shards: ShardFolder
    private let root: PathRoot

    /// Creates a reference to the batch in a folder.
    package init(path: String, beneath root: PathRoot) {
        self.path = StateFolder(path: path).absolute
        self.root = root
        shards = ShardFolder(path: self.path, beneath: root)
    }

    private func converting<Value>(
        _ body: () throws(ShardFolder.Problem) -> Value
    ) throws(EngineError) -> Value {
        do throws(ShardFolder.Problem) {
            return try body()
        } catch {
            throw EngineError(.invalidSpec, "\(error)")
        }
    }

    private func summary() throws(EngineError) -> ShardFolder.Summary {
        try converting { () throws(ShardFolder.Problem) in try shards.summary() }
    }

    private func partCount() throws(EngineError) -> Int { try summary().partCount }

    private func submissions(
        _ partCount: Int
    ) throws(EngineError) -> [(submission: Submission, folder: SubmissionFolder)] {
        try SubmissionFolder.all(of: path, beneath: root, partCount: partCount)
    }

    // MARK: Submitting

    /// Throws if the folder of a new batch is outside the root.
    package func requireInsideRoot() throws(EngineError) {
        guard root.contains(path) else {
            throw EngineError(.environment, "the folder of --out, \(path), is outside the root folder")
        }
    }

    /// Minimum work of a part in seconds of processor time. Less work takes no longer than its start on a cluster.
    package static let minWork = 60.0

    /// The result of a submission.
    package struct Submitted: Sendable {
        /// Description for the user, in one line.
        package let text: String
        /// Whether the engine runs the parts. Otherwise, the user starts them.
        package let isStarted: Bool
    }

    /// Submits parts to an engine; nil for all.
    /// - Throws: An environment error if the folder can't be written or the engine refuses the parts.
    private func submit(
        _ parts: [Int]?, to engine: ClusterEngineKind, _ resources: ClusterResources, _ command: PartCommand
    ) async throws(EngineError) -> Submitted {
        let summary = try summary()
        let (submission, folder) = try SubmissionFolder.create(of: path) { number in
            Submission(
                number: number, engine: engine, parts: parts ?? Array(0..<summary.partCount),
                stages: summary.stages,
                resources: resources, command: command, host: HostName.current)
        }
        let text: String
        switch engine.control {
        case .engine(let engine): text = try await engine.start(submission, in: folder)
        case .export(let export):
            do throws(EngineError) {
                text = try export.write(submission, in: folder)
            } catch {
                folder.remove()
                throw error
            }
        }
        return Submitted(text: "submission \(submission.number): \(text)", isStarted: !engine.isExport)
    }

    /// Submits all parts of a new batch, like `submit`. If the engine refuses them, the batch is removed.
    /// - Throws: The errors of `submit`.
    package func submitNew(
        to engine: ClusterEngineKind, _ resources: ClusterResources, _ command: PartCommand
    ) async throws(EngineError) -> Submitted {
        do {
            return try await submit(nil, to: engine, resources, command)
        } catch {
            SubmissionFolder.removeAll(of: path)
            shards.removePlan()
            throw error
        }
    }

    /// Submits the parts with jobs that aren't done and that no submission is still going to run, to the engine and with
    /// the command of the latest submission, and with its resources where `resources` states none. Returns nil if
    /// there is no such part.
    /// - Throws: An error if there is no submission, and those of `submit`.
    package func resubmit(_ resources: ClusterResources) async throws(EngineError) -> Submitted? {
        let found = try submissions(partCount())
        guard let latest = found.last?.submission else { throw noSubmission }
        let pending = try await states(of: found)
        let outcomes = try converting { () throws(ShardFolder.Problem) in try shards.outcomes() }
        // The chunks of a job that runs are no longer read.
        let open = outcomes.parts.indices.filter { pending[$0] == nil }
            .reduce(into: Set()) { $0.formUnion(outcomes.parts[$1].openJobs) }
        let missing = outcomes.parts.indices.filter { index in
            let part = outcomes.parts[index]
            return pending[index] == nil
                && (!part.openJobs.isEmpty
                    || !part.hasChunks && part.chunks.map { open.contains($0.key) } == true)
        }
        guard !missing.isEmpty else { return nil }
        return try await submit(
            missing, to: latest.engine, resources.replacingMissing(by: latest.resources), latest.command)
    }

    private var noSubmission: EngineError {
        EngineError(.invalidSpec, "\(path) has no submission; `tandem submit` creates one")
    }

    // MARK: State

    /// Returns the state of the parts.
    /// - Throws: An error if there is no submission, or if an engine can't be reached.
    package func status() async throws(EngineError) -> Status { try await statusOfParts().status }

    /// Returns the state of the parts, and the parts that haven't ended.
    private func statusOfParts() async throws(EngineError) -> (status: Status, open: Set<Int>) {
        let count = try partCount()
        let found = try submissions(count)
        guard !found.isEmpty else { throw noSubmission }
        var status = Status()
        status.parts = count
        let states = try await states(of: found)
        for state in states.values {
            switch state {
            case .running: status.running += 1
            case .waiting(let reason): status.waiting[reason, default: 0] += 1
            }
        }
        let unknown = openParts(of: found).reduce(into: Set()) { $0.formUnion($1.parts) }.subtracting(
            states.keys)
        status.unknown = unknown.count
        return (status, unknown.union(states.keys))
    }

    /// Returns the exported submissions with parts that haven't recorded an end, and these parts: they wait, run, or never
    /// start. Parts that were submitted again belong to the latest submission only.
    private func openParts(
        of submissions: [(submission: Submission, folder: SubmissionFolder)]
    ) -> [(submission: Submission, folder: SubmissionFolder, export: any PartExport, parts: Set<Int>)] {
        var later: Set<Int> = []
        var open:
            [(submission: Submission, folder: SubmissionFolder, export: any PartExport, parts: Set<Int>)] = []
        for (submission, folder) in submissions.reversed() {
            if case .export(let export) = submission.engine.control {
                let parts = Set(submission.parts).subtracting(later).subtracting(
                    PartScript.endedParts(in: folder))
                if !parts.isEmpty { open.append((submission, folder, export, parts)) }
            }
            later.formUnion(submission.parts)
        }
        return open.reversed()
    }

    private func states(
        of submissions: [(submission: Submission, folder: SubmissionFolder)]
    ) async throws(EngineError) -> [Int: PartState] {
        var states: [Int: PartState] = [:]
        for (submission, folder) in submissions {
            guard case .engine(let engine) = submission.engine.control else { continue }
            let parts = Set(submission.parts)
            let found = try await engine.states(of: submission, in: folder).filter { parts.contains($0.key) }
            // A part that two submissions contain runs if one of them runs it.
            states.merge(found) { one, other in one == .running ? one : other }
        }
        return states
    }

    /// Cancels all parts that wait or run.
    /// - Throws: An error if there is no submission, if an engine can't be reached, or for parts of an exported submission.
    package func cancel() async throws(EngineError) {
        let found = try submissions(partCount())
        guard !found.isEmpty else { throw noSubmission }
        var problem: EngineError?
        for (submission, folder) in found {
            guard case .engine(let engine) = submission.engine.control else { continue }
            do throws(EngineError) {
                try await engine.cancel(submission, in: folder)
            } catch {
                problem = problem ?? error
            }
        }
        let open = openParts(of: found).map { $0.export.cancellation(of: $0.submission, in: $0.folder) }
        if problem == nil, !open.isEmpty { problem = EngineError(.environment, open.joined(separator: "; ")) }
        if let problem { throw problem }
    }

    /// Waits until no part waits or runs, and displays their state and progress.
    /// - Throws: The errors of `status`, after the engine couldn't be reached for a minute.
    package func follow(on console: Console) async throws(EngineError) {
        var display = BatchDisplay(on: console)
        defer { display.end() }
        var reader = display.showsProgress ? try progressReader() : nil
        var failures = 0
        while true {
            do throws(EngineError) {
                let (status, open) = try await statusOfParts()
                failures = 0
                display.show(status, reader?.read(open: open))
                if status.isOver { return }
            } catch {
                // A cluster's controller may be restarted.
                failures += 1
                if error.status != .environment || failures > Self.maxFailures { throw error }
                if failures == 1 { display.printLine(SafeText.line("\(error); trying again")) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func progressReader() throws(EngineError) -> BatchProgressReader {
        let summary = try summary()
        return BatchProgressReader(
            of: shards, chunkParts: summary.stages.chunkParts, jobCount: summary.jobCount)
    }

    private static let interval = Duration.seconds(2)
    private static let maxFailures = 30

    // MARK: Results

    /// The results of all parts.
    package struct Results: Sendable {
        package let report: RunReport
        /// Lines for the user: the jobs that aren't done, with reasons.
        package let missing: [String]
        /// Lines for the user about parts that failed although their jobs may be done.
        package let notes: [String]
        package let status: RunStatus

        /// The number of jobs that are done, in one line.
        package var summary: String {
            "\(report.jobs.count - missing.count) of \(report.jobs.count) jobs done"
        }
    }

    /// Collects the results of all parts.
    /// - Throws: An error if the folder contains no plan, or one that was changed.
    package func results() throws(EngineError) -> Results {
        let (parts, report) = try converting { () throws(ShardFolder.Problem) in try shards.outcomes() }
        shards.removeUnreadChunks(of: parts)
        let missing = report.jobs.filter { !$0.isDone }
        let lines = missing.map { job in
            let why = job.reason.map { ": " + TextRenderer.printable($0) } ?? ""
            return
                "\(job.outcome)  \(TextRenderer.printable(job.id)) of \(TextRenderer.printable(job.file))\(why)"
        }
        let onlyExpectations = missing.allSatisfy { $0.rule == Rule.expectationFailed.rawValue }
        let status: RunStatus =
            missing.isEmpty ? .succeeded : onlyExpectations ? .expectationFailed : .jobFailed
        let notes = parts.enumerated().compactMap { index, part in
            part.chunkFailure.map {
                "note: part \(index), which encodes chunks, failed: \(TextRenderer.printable($0))"
            }
        }
        return Results(report: report, missing: lines, notes: notes, status: status)
    }

    /// The reports in the batch's folder. Whoever waits for the end of the parts writes them, and the submission's collector,
    /// which an engine may start much later.
    package var reports: ReportDestinations {
        let (junit, reports) = PartCommand.reports(in: path)
        return ReportDestinations(junit: junit, reports: reports)
    }

    /// Writes the requested reports of results, and returns error messages.
    package func write(_ results: Results, to destinations: ReportDestinations) -> [String] {
        destinations.write(
            results.report,
            previews: destinations.wantsPreviews
                ? shards.previews(of: results.report, limit: HTMLRenderer.maxPreviews) : [:])
    }
}
