internal import Errors
internal import ExactStrings
internal import Diagnostics
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing
internal import Streaming

/// The executor of one job's plan: creates temporary files, starts the work and publishes the outputs. Only this class
/// writes to destinations; the work itself may run in another process.
///
/// Unchecked `Sendable`: mutable state is accessed on `queue` only, or is protected by a mutex.
final class JobExecutor: @unchecked Sendable {
    let plan: JobPlan
    /// Reason why the outputs don't fit on disk; nil if they do.
    private let spaceShortage: String?
    /// Sources of the whole run, which must not be replaced.
    private let sources: Set<SourceFileKey>
    let number: Int
    /// Whether outputs that fail their expectations are kept under another name.
    private let keepsFailed: Bool
    private let makesPreview: Bool
    private let sharesProcessors: Bool
    let state: RunState?
    let performer: any WorkPerformer
    /// Root beneath which outputs are published.
    private let root: PathRoot
    let queue = DispatchQueue(label: "tandem.publish")
    private let begun = DispatchTime.now()

    private struct Running {
        var work: (any WorkHandle)?
        var isCancelled = false
        var hasTimedOut = false
    }
    private let running = Guarded(Running())
    private var timer: (any DispatchSourceTimer)?
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
    /// Accessed on `queue` only.
    private var unfinishedOutputs: [UnfinishedOutput] = []

    /// Reasons for skipped outputs, by output id; accessed on `queue` only.
    private var skipped: [String: String] = [:]

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
    init(
        plan: JobPlan, spaceShortage: String?, sources: Set<SourceFileKey>, number: Int, keepsFailed: Bool,
        makesPreview: Bool, sharesProcessors: Bool,
        state: RunState?, performer: any WorkPerformer, root: PathRoot
    ) {
        self.root = root
        self.makesPreview = makesPreview
        self.sharesProcessors = sharesProcessors
        self.state = state
        self.keepsFailed = keepsFailed
        self.number = number
        self.plan = plan
        self.spaceShortage = spaceShortage
        self.sources = sources
        self.performer = performer
    }

    /// Starts the job. `completion` is called once, on a private queue. `onWork` is called if there is work to do,
    /// `onPublish` once the work is finished and all expectations are met.
    func start(
        onWork: @escaping @Sendable () -> Void, onPublish: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (JobOutcome) -> Void
    ) {
        queue.async { @Sendable in
            let end: @Sendable (JobOutcome) -> Void = { outcome in
                self.timer?.cancel()
                // Breaks a retain cycle: the handle retains its callback, which retains this object.
                self.running.withLock { $0.work = nil }
                completion(outcome)
            }
            do {
                try self.begin(onWork, onPublish, end)
            } catch {
                end(self.outcome(of: error))
            }
        }
    }

    /// Cancels the work. `completion` is still called.
    func cancel() {
        running.withLock { running in
            running.isCancelled = true
            return running.work
        }?.cancel()
    }

    var progress: WorkProgress { running.withLock { $0.work }?.progress ?? WorkProgress() }

    /// Wall-clock seconds since the executor was created.
    var elapsed: Double { Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9 }

    var isCancelled: Bool { running.withLock { $0.isCancelled } }

    func outcome(of error: any Error) -> JobOutcome {
        let (isCancelled, hasTimedOut) = running.withLock { ($0.isCancelled, $0.hasTimedOut) }
        if hasTimedOut, let timeout = plan.scheduling.timeout {
            return .failed(
                JobFailure(
                    "the job exceeded its timeout of \(timeout) s", at: plan.location, rule: .jobTimeout))
        }
        if isCancelled || error is CancellationError { return .cancelled }
        if let skipped = error as? SkippedOutput { return .skipped(skipped.reason) }
        if let failure = error as? JobFailure { return .failed(failure) }
        return .failed(
            JobFailure(
                "\(error)", at: location, kind: ErrorKind(error),
                isTransient: TransientErrors.isTransient(error)))
    }

    private func begin(
        _ onWork: @escaping @Sendable () -> Void, _ onPublish: @escaping @Sendable () -> Void,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) throws {
        for output in plan.outputs {
            guard let outside = output.files.first(where: { !root.contains($0) }) else { continue }
            throw JobFailure(
                "the destination is outside of --root: \(outside)",
                at: output.destinationLocation, rule: .destinationUnwritable)
        }
        try SourceCheck(plan).check(when: "since it was planned")
        if let task = plan.tasks.first(where: \.output.isCheck) { return check(task, onWork, completion) }
        var (toCreate, toEvaluate): ([OutputPublisher], [(OutputPublisher, PlanDigest)]) = ([], [])
        for task in plan.tasks {
            guard var publisher = OutputPublisher(task: task, sources: sources, state: state) else {
                continue
            }
            let (digest, relation) = state?.relation(of: task) ?? (nil, .other)
            publisher.digest = digest
            switch relation {
            case .current:
                guard let digest else { continue }
                for part in task.files {
                    state?.adopt(part)
                    state?.succeeded(part, digest: digest, seconds: state?.seconds(of: part) ?? 0)
                }
                state?.succeeded(whole: task)
            case .unevaluated where task.output.isReevaluable:
                if let digest { toEvaluate.append((publisher, digest)) }
            case .unevaluated, .other: toCreate.append(publisher)
            }
        }
        guard !toCreate.isEmpty || !toEvaluate.isEmpty else { return completion(.upToDate) }
        if let spaceShortage, !toCreate.isEmpty {
            throw JobFailure(spaceShortage, at: location, rule: .lowSpace)
        }
        var skips: [SkippedOutput] = []
        toCreate = try toCreate.filter { publisher in
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
        if toCreate.isEmpty, toEvaluate.isEmpty { return completion(outcomeWithoutOutputs) }
        startTimeout()
        let remaining = toCreate
        guard !toEvaluate.isEmpty else {
            onWork()
            return try create(remaining, onPublish, completion)
        }
        try evaluate(toEvaluate, onWork) { @Sendable failure in
            if let failure { return completion(self.outcome(of: failure)) }
            if remaining.isEmpty { return completion(self.outcomeWithoutOutputs) }
            do {
                try self.create(remaining, onPublish, completion)
            } catch {
                completion(self.outcome(of: error))
            }
        }
    }

    /// Starts the work that creates outputs of the plan.
    private func create(
        _ toCreate: [OutputPublisher], _ onPublish: @escaping @Sendable () -> Void,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) throws {
        for publisher in toCreate {
            try publisher.makeFolder()
            let reused = state?.reusableRenditions(of: publisher.task) ?? [:]
            let tasks = publisher.task.written.filter { $0.output.id.flatMap { reused[$0] } == nil }
            let files = try tasks.map { _ in
                try TemporaryFile(destination: publisher.destination, in: root)
            }
            unfinishedOutputs.append(
                UnfinishedOutput(publisher: publisher, tasks: tasks, files: files, reused: reused))
        }
        let created = Set(unfinishedOutputs.flatMap(\.tasks).map(\.output.id))
        let plan = plan(of: toCreate).expanded.only { created.contains($0.id) }
        guard !plan.outputs.isEmpty else {
            onPublish()
            timer?.cancel()
            return completion(end(.finished(WorkFindings(outputs: []))))
        }
        let scratch =
            plan.hasTwoPasses ? try TemporaryFile(destination: toCreate[0].destination, in: root) : nil
        var order = WorkOrder(
            plan: plan, outputs: unfinishedOutputs.flatMap(\.files), scratch: scratch,
            makesPreview: makesPreview)
        order.sharesProcessors = sharesProcessors
        // The timeout doesn't include the creation of preview images.
        order.onChecked = { @Sendable in self.queue.async { @Sendable in self.timer?.cancel() } }
        let work = performer.perform(order) { @Sendable outcome in
            // Not called after a failure: with `--fail-fast` no further jobs may start.
            if case .finished(let findings) = outcome, findings.isAsExpected { onPublish() }
            self.queue.async { @Sendable in
                self.timer?.cancel()
                scratch?.discard()
                completion(self.end(outcome))
            }
        }
        attach(work)
    }

    private func plan(of publishers: [OutputPublisher]) -> JobPlan {
        plan.only { output in publishers.contains { $0.task.output.id == output.id } }
    }

    func attach(_ work: any WorkHandle) {
        let isCancelled = running.withLock { running in
            running.work = work
            return running.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    /// Evaluates the current expectations of existing outputs that the same plan created. `completion` is called on
    /// `queue` with the error if an expectation isn't met, or with nil.
    private func evaluate(
        _ evaluated: [(publisher: OutputPublisher, digest: PlanDigest)], _ onWork: @Sendable () -> Void,
        _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) throws {
        let files = try evaluated.map {
            try TemporaryFile(published: $0.publisher.destination, in: root)
        }
        let fingerprints = files.map(\.fingerprint)
        onWork()
        var order = WorkOrder(plan: plan(of: evaluated.map(\.publisher)), outputs: files, scratch: nil)
        order.onlyEvaluates = true
        let work = performer.perform(order) { @Sendable outcome in
            self.queue.async { @Sendable in
                do {
                    try self.end(evaluation: outcome)
                    for (index, (publisher, digest)) in evaluated.enumerated() {
                        let destination = publisher.destination
                        guard files[index].isAt(destination),
                            files[index].fingerprint == fingerprints[index]
                        else {
                            throw JobFailure(
                                "the output changed while its expectations were evaluated: \(destination)",
                                at: publisher.task.output.destinationLocation, rule: .destinationExists)
                        }
                        self.state?.expectationsMet(publisher.task, digest)
                    }
                    completion(nil)
                } catch {
                    completion(error)
                }
            }
        }
        attach(work)
    }

    private func end(evaluation: WorkOutcome) throws {
        let findings = try findings(of: evaluation)
        if let failure = failure(of: findings, keptNote: { _ in "; the output of an earlier run is kept" }) {
            throw failure
        }
    }

    /// Returns the findings of completed work; throws its failure, or `CancellationError`.
    func findings(of outcome: WorkOutcome) throws -> WorkFindings {
        switch outcome {
        case .cancelled: throw CancellationError()
        case .failed(let failure): throw failure
        case .finished(let findings):
            if isCancelled { throw CancellationError() }
            return findings
        }
    }

    /// Returns the failure if an expectation isn't met; nil if all are met. `kept` returns a clause for the message
    /// that states whether the output at an index was kept.
    func failure(of findings: WorkFindings, keptNote kept: (Int) -> String?) -> JobFailure? {
        let failed = findings.outputs.indices.filter { index in
            findings.outputs[index].expectations.contains { !$0.holds }
        }
        let expectations = findings.outputs.flatMap(\.expectations)
        guard let firstFailed = failed.first, let first = expectations.first(where: { !$0.holds }) else {
            return nil
        }
        let otherFailures = expectations.count { !$0.holds } - 1
        var keptNotes: [String: String] = [:]
        var sentences: [String] = []
        for index in failed {
            guard let sentence = kept(index) else { continue }
            keptNotes[findings.outputs[index].expectations.first?.output ?? ""] = sentence
            if !sentences.contains(sentence) { sentences.append(sentence) }
        }
        var failure = JobFailure(
            first.message + (otherFailures > 0 ? " (and \(otherFailures) more)" : "") + sentences.joined(),
            at: first.expectation.location, rule: .expectationFailed)
        failure.keptNotes = keptNotes
        failure.expectations = expectations
        failure.preview = findings.outputs[firstFailed].preview
        return failure
    }

    /// Starts the timer of the job's `timeout`. Called on `queue`.
    func startTimeout() {
        guard let timeout = plan.scheduling.timeout else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + timeout.seconds)
        timer.setEventHandler { @Sendable in
            self.running.withLock { $0.hasTimedOut = true }
            self.cancel()
        }
        timer.activate()
        self.timer = timer
    }

    private func end(_ outcome: WorkOutcome) -> JobOutcome {
        do {
            let findings = try findings(of: outcome)
            let count = unfinishedOutputs.reduce(0) { $0 + $1.files.count }
            guard findings.outputs.count == count else {
                throw MediaError.internalError("\(findings.outputs.count) results for \(count) files")
            }
            // Discards these outputs if another process published the same ones in the meantime.
            if findings.isAsExpected, unfinishedOutputs.flatMap(\.publisher.parts).allSatisfy(\.isUpToDate) {
                discard()
                return outcomeWithoutOutputs
            }
            let outputs = try publish(findings)
            return outputs.isEmpty
                ? outcomeWithoutOutputs
                : .succeeded(JobResult(outputs: outputs, skipped: skipped, seconds: elapsed))
        } catch {
            discard()
            return self.outcome(of: error)
        }
    }

    private func discard() { for file in unfinishedOutputs.flatMap(\.files) { file.discard() } }

    /// Returns the findings on each unfinished output, one for each of its files.
    private func grouped(_ findings: WorkFindings) -> [[OutputFindings]] {
        var rest = findings.outputs[...]
        return unfinishedOutputs.map { output in
            defer { rest = rest.dropFirst(output.files.count) }
            return Array(rest.prefix(output.files.count))
        }
    }

    // MARK: Publishing

    /// Publishes all outputs or none. All other operations that can fail precede the first rename. If a later rename
    /// fails, the outputs already published are withdrawn.
    private func publish(_ findings: WorkFindings) throws -> [OutputResult] {
        try SourceCheck(plan).check(when: "while it was read")
        let owners = unfinishedOutputs.flatMap { output in output.files.map { (output.publisher, $0) } }
        let failure = failure(of: findings) { index in
            guard keepsFailed else { return nil }
            return owners[index].0.keep(owners[index].1)
        }
        if let failure { throw failure }
        let written = zip(unfinishedOutputs, grouped(findings)).map { $0.written($1) }
        var parts: [(output: Int, publisher: OutputPublisher, item: any PublishableItem)] = []
        for (index, output) in unfinishedOutputs.enumerated() {
            if isCancelled { throw CancellationError() }
            for part in try output.publisher.items(of: written[index], reusing: output.reused, in: root) {
                parts.append((index, part.publisher, part.item))
            }
        }
        for index in parts.indices {
            if isCancelled { throw CancellationError() }
            try parts[index].publisher.prepare(parts[index].item, written[parts[index].output])
        }
        let published = try TemporaryFile.publishTogether(parts.map(\.item)) { index, keepsReplaced in
            try parts[index].publisher.publish(parts[index].item, keepsReplaced: keepsReplaced)
        }
        for index in published { parts[index].publisher.recordSuccess(parts[index].item, seconds: elapsed) }
        return unfinishedOutputs.indices.compactMap { index in
            state?.succeeded(whole: unfinishedOutputs[index].publisher.task)
            let items = published.map { parts[$0] }.filter { $0.output == index }.map(\.item)
            let output = unfinishedOutputs[index]
            return items.isEmpty
                ? nil : output.publisher.result(items, written[index], reusing: output.reused.values)
        }
    }
}
