internal import Errors
internal import Diagnostics
internal import Dispatch
package import JobPlan
internal import Locking
internal import Media
package import FileSystem
internal import Publishing
internal import Streaming

/// The executor of one attempt at a job's plan: creates temporary files, has the work performed, and publishes the
/// outputs. Only this type writes to destinations; the work itself may run in another process.
///
/// An actor with its own queue, which publishing blocks.
package actor JobExecutor {
    private let executor = QueueExecutor(label: "tandem.publish")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package nonisolated let plan: JobPlan
    /// Reason why the outputs don't fit on disk; nil if they do.
    private let spaceShortage: String?
    /// Sources of the whole run, which must not be replaced.
    private let sources: Set<SourceFileKey>
    package nonisolated let number: Int
    /// Whether outputs that fail their expectations are kept under another name.
    private let keepsFailed: Bool
    private let makesPreview: Bool
    private let sharesProcessors: Bool
    /// Records of published outputs; nil if none are kept.
    private let records: (any OutputRecords)?
    /// Whether outputs get a mark, by which later runs recognize them.
    private let marksOutputs: Bool
    private let performer: any WorkPerformer
    /// Root beneath which outputs are published.
    private let root: PathRoot
    private let monitor = WorkMonitor()
    private nonisolated let begun = DispatchTime.now()

    /// The task of the attempt, which the timeout cancels; nil before the start and after the end.
    private var attempt: Task<JobOutcome, Never>?
    private var timeout: JobTimeout
    /// Reasons for skipped outputs, by output id.
    private var skipped: [String: String] = [:]

    /// An output that is being created, with its temporary files: one, or one for each rendition of a package that is
    /// created.
    private struct UnfinishedOutput {
        let publisher: OutputPublisher
        let tasks: [OutputTask]
        let files: [TemporaryFile]
        /// Renditions of a package that are taken from its published folder, by id.
        let reused: [String: StreamingRendition]

        func written(_ findings: [OutputFindings]) -> [WrittenFile] {
            zip(zip(tasks, files), findings).map { WrittenFile(task: $0.0, file: $0.1, findings: $1) }
        }
    }

    /// A published output whose expectations have changed and are evaluated again.
    private struct ExistingOutput {
        let publisher: OutputPublisher
        let digest: PlanDigest
        let file: TemporaryFile
        let fingerprint: String

        init(_ publisher: OutputPublisher, _ digest: PlanDigest, in root: PathRoot) throws {
            self.publisher = publisher
            self.digest = digest
            file = try TemporaryFile(published: publisher.destination, in: root)
            fingerprint = file.fingerprint
        }
    }

    /// Outcome if no output needs to be created.
    private var outcomeWithoutOutputs: JobOutcome {
        skipped.isEmpty
            ? .upToDate : .succeeded(JobResult(outputs: [], skipped: skipped, seconds: elapsed))
    }

    /// Location of the destination in the job file if there is one output; otherwise of the job.
    private var location: SourceRange {
        plan.outputs.count == 1 ? plan.outputs[0].destinationLocation : plan.location
    }

    /// Creates an executor. `number` is the index of the start within the run; a retry counts as a start.
    package init(
        plan: JobPlan, spaceShortage: String? = nil, sources: Set<SourceFileKey> = [], number: Int = 1,
        keepsFailed: Bool = false, makesPreview: Bool = false, sharesProcessors: Bool = false,
        records: (any OutputRecords)?, marksOutputs: Bool = true, performer: any WorkPerformer, root: PathRoot
    ) {
        self.root = root
        self.makesPreview = makesPreview
        self.sharesProcessors = sharesProcessors
        self.records = records
        self.marksOutputs = marksOutputs
        self.keepsFailed = keepsFailed
        self.number = number
        self.plan = plan
        self.spaceShortage = spaceShortage
        self.sources = sources
        self.performer = performer
        timeout = JobTimeout(of: plan)
    }

    /// Temporary files of the outputs that are created.
    private struct Files {
        var open: [TemporaryFile] = []
        var isAbandoned = false
    }
    private let files = Guarded(Files())

    /// Discards the temporary files at once. Used after a cancellation, because the task may wait for work that can't be
    /// interrupted.
    package nonisolated func abandon() {
        let open = files.withLock { files in
            files.isAbandoned = true
            return files.open
        }
        for file in open { file.discard() }
    }

    /// Creates a temporary file. Throws `CancellationError` if the attempt is abandoned.
    private func temporaryFile(at destination: String) throws -> TemporaryFile {
        let file = try TemporaryFile(destination: destination, in: root)
        let isAbandoned = files.withLock { files in
            files.open.append(file)
            return files.isAbandoned
        }
        guard isAbandoned else { return file }
        file.discard()
        throw CancellationError()
    }

    /// Progress of the work.
    package nonisolated var progress: WorkProgress { monitor.progress }

    /// Wall-clock seconds since the executor was created.
    package nonisolated var elapsed: Double {
        Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
    }

    /// Executes the plan, once. Cancelling the task cancels the attempt, until the outputs get their names. `onWork` is
    /// called if there is work to do, `onPublish` once the work is finished and all expectations are met. If it throws,
    /// nothing is published.
    package func run(
        onWork: @escaping @Sendable () -> Void = {}, onPublish: @escaping @Sendable () throws -> Void
    ) async -> JobOutcome {
        let attempt = Task {
            do { return try await execute(onWork, onPublish) } catch { return outcome(of: error) }
        }
        self.attempt = attempt
        defer {
            self.attempt = nil
            timeout.stop()
        }
        return await withTaskCancellationHandler {
            await attempt.value
        } onCancel: {
            attempt.cancel()
        }
    }

    private func execute(
        _ onWork: @Sendable () -> Void, _ onPublish: @Sendable () throws -> Void
    ) async throws -> JobOutcome {
        try checkRoot()
        try SourceCheck(plan).check(when: "since it was planned")
        if let task = plan.tasks.first(where: { !$0.output.isPublished }) {
            return await check(task, onWork)
        }
        let outdated = OutdatedOutputs(
            of: plan, sources: sources, records: records, marksOutputs: marksOutputs)
        if !outdated.toCreate.isEmpty, let reason = records?.declinedOutput(of: plan) {
            return .declined(reason)
        }
        if outdated.isEmpty { return .upToDate }
        if let spaceShortage, !outdated.toCreate.isEmpty {
            throw JobFailure(spaceShortage, at: location, rule: .lowSpace)
        }
        let toCreate = try removingSkipped(outdated.toCreate)
        if toCreate.isEmpty, outdated.toEvaluate.isEmpty { return outcomeWithoutOutputs }
        startTimeout()
        let existing = try outdated.toEvaluate.map { try ExistingOutput($0.publisher, $0.digest, in: root) }
        onWork()
        if !existing.isEmpty { try await evaluate(existing) }
        guard !toCreate.isEmpty else { return outcomeWithoutOutputs }
        var unfinished: [UnfinishedOutput] = []
        do {
            for publisher in toCreate { unfinished.append(try unfinishedOutput(publisher)) }
            let findings = try await write(unfinished)
            timeout.stop()
            // Not called after a failure: with `--fail-fast` no further jobs may start.
            if findings.isAsExpected { try onPublish() }
            return try end(unfinished, findings)
        } catch {
            Self.discard(unfinished)
            throw error
        }
    }

    // MARK: Before the work

    private func checkRoot() throws {
        for output in plan.outputs {
            guard let outside = output.files.first(where: { !root.contains($0) }) else { continue }
            throw JobFailure(
                "the destination is outside of --root: \(outside)",
                at: output.destinationLocation, rule: .destinationUnwritable)
        }
    }

    /// Returns the publishers whose destinations are free or may be replaced. Throws if all outputs of the job are
    /// skipped.
    private func removingSkipped(_ publishers: [OutputPublisher]) throws -> [OutputPublisher] {
        var skips: [SkippedOutput] = []
        let remaining = try publishers.filter { publisher in
            do {
                for part in publisher.parts { _ = try part.replacesExisting() }
                return true
            } catch let error as SkippedOutput {
                skips.append(error)
                skipped[publisher.task.output.id ?? ""] = error.reason
                return false
            }
        }
        if let first = skips.first, skips.count == plan.outputs.count { throw first }
        return remaining
    }

    /// Creates the temporary files of an output.
    private func unfinishedOutput(_ publisher: OutputPublisher) throws -> UnfinishedOutput {
        try publisher.makeFolder()
        let reused = records?.reusableRenditions(of: publisher.task) ?? [:]
        let tasks = publisher.task.written.filter { $0.output.id.flatMap { reused[$0] } == nil }
        let files = try tasks.map { _ in try temporaryFile(at: publisher.destination) }
        return UnfinishedOutput(publisher: publisher, tasks: tasks, files: files, reused: reused)
    }

    private static func discard(_ unfinished: [UnfinishedOutput]) {
        for file in unfinished.flatMap(\.files) { file.discard() }
    }

    // MARK: Work

    /// Writes and verifies the temporary files.
    private func write(_ unfinished: [UnfinishedOutput]) async throws -> WorkFindings {
        let created = Set(unfinished.flatMap(\.tasks).map(\.output.id))
        let plan = plan(of: unfinished.map(\.publisher)).expanded.only { created.contains($0.id) }
        // All renditions of a package may be reused.
        guard !plan.outputs.isEmpty else { return WorkFindings(outputs: []) }
        let scratch =
            plan.needsScratch
            ? try temporaryFile(at: unfinished[0].publisher.destination) : nil
        defer { scratch?.discard() }
        var order = WorkOrder(
            plan: plan, outputs: unfinished.flatMap(\.files), scratch: scratch, makesPreview: makesPreview,
            monitor: monitor)
        order.sharesProcessors = sharesProcessors
        // The timeout doesn't include the creation of preview images.
        order.onChecked = { @Sendable _ in
            self.executor.queue.async { @Sendable in self.assumeIsolated { $0.timeout.stop() } }
        }
        return try await performer.findings(of: order)
    }

    /// Evaluates the current expectations of existing outputs that the same plan created. Throws if one isn't met.
    private func evaluate(_ existing: [ExistingOutput]) async throws {
        var order = WorkOrder(
            plan: plan(of: existing.map(\.publisher)), outputs: existing.map(\.file), scratch: nil,
            monitor: monitor)
        order.task = .evaluate
        let findings = try await performer.findings(of: order)
        let failure = findings.expectationFailure { _ in "; the output of an earlier run is kept" }
        if let failure { throw failure }
        for output in existing {
            let destination = output.publisher.destination
            guard output.file.isAt(destination), output.file.fingerprint == output.fingerprint else {
                throw JobFailure(
                    "the output changed while its expectations were evaluated: \(destination)",
                    at: output.publisher.task.output.destinationLocation, rule: .destinationExists)
            }
            records?.expectationsMet(output.publisher.task, output.digest)
        }
    }

    private func plan(of publishers: [OutputPublisher]) -> JobPlan {
        plan.only { output in publishers.contains { $0.task.output.id == output.id } }
    }

    /// Runs a check, unless the source has already passed it.
    private func check(_ task: OutputTask, _ onWork: @Sendable () -> Void) async -> JobOutcome {
        let check = CheckAttempt(task, of: plan, records: records)
        if check.recordIfUpToDate() { return .upToDate }
        startTimeout()
        onWork()
        do {
            return .succeeded(try await check.run(by: performer, monitor) { elapsed })
        } catch {
            let outcome = outcome(of: error)
            if case .failed = outcome { check.recordFailure() }
            return outcome
        }
    }

    /// Starts the job's `timeout`, which cancels the attempt.
    private func startTimeout() {
        timeout.start(on: executor.queue) { @Sendable in
            self.assumeIsolated { executor in
                executor.timeout.expire()
                executor.attempt?.cancel()
            }
        }
    }

    // MARK: Outcome

    /// Returns the outcome of an attempt that threw an error.
    private func outcome(of error: any Error) -> JobOutcome {
        if let failure = timeout.failure { return .failed(failure) }
        if Task.isCancelled || error is CancellationError { return .cancelled }
        if let skipped = error as? SkippedOutput { return .skipped(skipped.reason) }
        if let declined = error as? Declined { return .declined(declined.reason) }
        if let failure = error as? JobFailure { return .failed(failure) }
        return .failed(
            JobFailure(
                "\(error)", at: location, kind: ErrorKind(error),
                isTransient: TransientErrors.isTransient(error)))
    }

    /// Publishes the outputs, unless another process published the same ones in the meantime.
    private func end(_ unfinished: [UnfinishedOutput], _ findings: WorkFindings) throws -> JobOutcome {
        let count = unfinished.reduce(0) { $0 + $1.files.count }
        guard findings.outputs.count == count else {
            throw MediaError.internalError("\(findings.outputs.count) results for \(count) files")
        }
        if findings.isAsExpected, unfinished.flatMap(\.publisher.parts).allSatisfy(\.isUpToDate) {
            Self.discard(unfinished)
            return outcomeWithoutOutputs
        }
        let outputs = try publish(unfinished, findings)
        return outputs.isEmpty
            ? outcomeWithoutOutputs
            : .succeeded(JobResult(outputs: outputs, skipped: skipped, seconds: elapsed))
    }

    /// Returns the findings on each unfinished output, one for each of its files.
    private static func grouped(_ findings: WorkFindings, by unfinished: [UnfinishedOutput])
        -> [[OutputFindings]]
    {
        var rest = findings.outputs[...]
        return unfinished.map { output in
            defer { rest = rest.dropFirst(output.files.count) }
            return Array(rest.prefix(output.files.count))
        }
    }

    // MARK: Publishing

    /// The error of an output that doesn't meet the job's condition for publishing it.
    private struct Declined: Error {
        let reason: String
    }

    /// Throws `Declined` if the job's condition for publishing its output isn't met.
    private func decline(_ unfinished: [UnfinishedOutput]) throws {
        guard plan.publishIf != nil, let output = unfinished.first, let file = output.files.first else {
            return
        }
        let size = file.size
        guard let reason = plan.refusal(ofOutputWithSize: size) else { return }
        if let digest = output.publisher.digest {
            records?.declined(output.publisher.task, digest: digest, size: size)
        }
        throw Declined(reason: reason)
    }

    /// Publishes all outputs or none. All other operations that can fail precede the first rename. If a later rename
    /// fails, the outputs already published are withdrawn.
    private func publish(
        _ unfinished: [UnfinishedOutput], _ findings: WorkFindings
    ) throws -> [OutputResult] {
        try SourceCheck(plan).check(when: "while it was read")
        let owners = unfinished.flatMap { output in
            zip(output.files, output.tasks).map { (publisher: output.publisher, file: $0, task: $1) }
        }
        let failure = findings.expectationFailure { index in
            guard keepsFailed else { return nil }
            let owner = owners[index]
            return owner.publisher.keep(owner.file, of: owner.task)
        }
        if let failure { throw failure }
        try decline(unfinished)
        let written = zip(unfinished, Self.grouped(findings, by: unfinished)).map { $0.written($1) }
        var parts: [(output: Int, publisher: OutputPublisher, item: any PublishableItem)] = []
        var details: [OutputResult.Detail] = []
        for (index, output) in unfinished.enumerated() {
            try Task.checkCancellation()
            let made = try output.publisher.items(of: written[index], reusing: output.reused, in: root)
            parts += made.items.map { (index, $0.publisher, $0.item) }
            details.append(made.detail)
        }
        for index in parts.indices {
            try Task.checkCancellation()
            try parts[index].publisher.prepare(parts[index].item, written[parts[index].output])
        }
        let published = try TemporaryFile.publishTogether(parts.map(\.item)) { index, keepsReplaced in
            try parts[index].publisher.publish(parts[index].item, keepsReplaced: keepsReplaced)
        }
        for index in published { parts[index].publisher.recordSuccess(parts[index].item, seconds: elapsed) }
        return unfinished.indices.compactMap { index in
            records?.succeeded(whole: unfinished[index].publisher.task)
            let own = published.map { parts[$0] }.filter { $0.output == index }
            let output = unfinished[index]
            if own.isEmpty { return nil }
            return output.publisher.result(
                own.map(\.item), written[index], details[index], reusing: output.reused.values)
        }
    }
}
