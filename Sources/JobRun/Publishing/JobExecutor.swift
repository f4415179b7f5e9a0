internal import ExactStrings
internal import Diagnostics
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
public import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// Carries out one plan: temporary file, work, publish. Only this touches destinations; the work itself may be done by
/// another process.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only, or is behind the mutex.
final class JobExecutor: @unchecked Sendable {
    let plan: JobPlan
    /// Why there is no room for its output; nil where there is.
    private let lack: String?
    /// The sources of the whole call: none of them is ever replaced.
    private let sources: Set<SourceFileKey>
    let number: Int
    /// An output that fails its expectations stays, under another name.
    private let keepsFailed: Bool
    private let makesPreview: Bool
    private let state: RunState?
    private let performer: any WorkPerformer
    private let queue = DispatchQueue(label: "tandem.publish")
    private let begun = DispatchTime.now()

    private struct Running {
        var work: (any WorkHandle)?
        var isCancelled = false
        var hasTimedOut = false
    }
    private let running = Guarded(Running())
    private var timer: (any DispatchSourceTimer)?
    private var digest: PlanDigest?

    /// `number` counts the starts of a batch.
    init(
        plan: JobPlan, lack: String?, sources: Set<SourceFileKey>, number: Int, keepsFailed: Bool,
        makesPreview: Bool,
        state: RunState?, performer: any WorkPerformer
    ) {
        self.makesPreview = makesPreview
        self.state = state
        self.keepsFailed = keepsFailed
        self.number = number
        self.plan = plan
        self.lack = lack
        self.sources = sources
        self.performer = performer
    }

    /// Begins; `completion` is called once, on a private queue. `onWork` says that there is something to do, `onPublish`
    /// that the work is done and its output good.
    func start(
        onWork: @escaping @Sendable () -> Void, onPublish: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (JobOutcome) -> Void
    ) {
        queue.async { @Sendable in
            do {
                try self.begin(onWork, onPublish, completion)
            } catch {
                completion(self.outcome(of: error))
            }
        }
    }

    /// Cancels at once; the completion still comes.
    func cancel() {
        running.withLock { running in
            running.isCancelled = true
            return running.work
        }?.cancel()
    }

    /// How far it has come.
    var progress: WorkProgress { running.withLock { $0.work }?.progress ?? WorkProgress() }

    /// Wall-clock seconds since it was made.
    var elapsed: Double { Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9 }

    private struct Skip: Error {
        let reason: String
    }

    private func outcome(of error: any Error) -> JobOutcome {
        let (isCancelled, hasTimedOut) = running.withLock { ($0.isCancelled, $0.hasTimedOut) }
        if hasTimedOut, let timeout = plan.scheduling.timeout {
            return .failed(
                JobFailure(
                    "it took longer than its timeout of \(timeout) s", at: plan.location, rule: .jobTimeout))
        }
        if isCancelled || error is CancellationError { return .cancelled }
        if let skip = error as? Skip { return .skipped(skip.reason) }
        if let failure = error as? JobFailure { return .failed(failure) }
        return .failed(
            JobFailure("\(error)", at: plan.destinationLocation, isTransient: Transience.isTransient(error)))
    }

    private func begin(
        _ onWork: @Sendable () -> Void, _ onPublish: @escaping @Sendable () -> Void,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) throws {
        guard PathRoot.holds(plan.destination) else {
            throw JobFailure(
                "the destination lies outside --root: \(plan.destination)", at: plan.destinationLocation,
                rule: .destinationUnwritable)
        }
        try checkSource(when: "since it was planned")
        if let (found, standing) = state?.standing(plan) {
            digest = found
            if let found, standing == .current {
                state?.adopt(plan)
                state?.succeeded(plan, digest: found, seconds: state?.seconds(of: plan) ?? 0)
                return completion(.upToDate)
            }
            if let found, standing == .unjudged, plan.isJudgedAgain {
                return try judge(found, onWork, completion)
            }
        }
        if let lack { throw JobFailure(lack, at: plan.destinationLocation, rule: .lowSpace) }
        _ = try replacesExisting()
        try makeFolder()
        let output = try TemporaryFile(destination: plan.destination)
        onWork()
        let scratch = plan.hasTwoPasses ? try TemporaryFile(destination: plan.destination) : nil
        watchTime()
        var order = WorkOrder(
            plan: plan, output: output, scratch: scratch, makesPreview: makesPreview)
        // A report's pictures are not the job's to pay for.
        order.onChecked = { @Sendable in self.queue.async { @Sendable in self.timer?.cancel() } }
        let work = performer.perform(order) { @Sendable outcome in
            // After a failure it may be that nothing more is to begin.
            if case .finished(let findings) = outcome, findings.expectations.allSatisfy(\.holds) {
                onPublish()
            }
            self.queue.async { @Sendable in
                self.timer?.cancel()
                scratch?.discard()
                completion(self.end(outcome, output: output))
            }
        }
        let isCancelled = running.withLock { running in
            running.work = work
            return running.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    /// Holds the output that is there, made by just this plan, against what is expected of it now.
    private func judge(
        _ digest: PlanDigest, _ onWork: @Sendable () -> Void,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) throws {
        let output = try TemporaryFile(published: plan.destination)
        let fingerprint = output.fingerprint
        onWork()
        watchTime()
        var order = WorkOrder(plan: plan, output: output, scratch: nil)
        order.onlyJudges = true
        let work = performer.perform(order) { @Sendable outcome in
            self.queue.async { @Sendable in
                self.timer?.cancel()
                completion(self.end(judgement: outcome, of: output, fingerprint, digest))
            }
        }
        let isCancelled = running.withLock { running in
            running.work = work
            return running.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    private func end(
        judgement: WorkOutcome, of output: TemporaryFile, _ fingerprint: String, _ digest: PlanDigest
    ) -> JobOutcome {
        do {
            switch judgement {
            case .cancelled: throw CancellationError()
            case .failed(let failure): throw failure
            case .finished(let findings):
                if running.withLock({ $0.isCancelled }) { throw CancellationError() }
                if let failure = self.failure(of: findings, leaving: "; the output of an earlier run stays") {
                    throw failure
                }
            }
            guard output.isAt(plan.destination), output.fingerprint == fingerprint else {
                throw JobFailure(
                    "the output was changed while it was judged: \(plan.destination)",
                    at: plan.destinationLocation, rule: .destinationExists)
            }
            state?.judged(plan, digest)
            return .upToDate
        } catch {
            return outcome(of: error)
        }
    }

    /// What is said where an expectation doesn't hold; nil where all do.
    private func failure(of findings: WorkFindings, leaving kept: @autoclosure () -> String?) -> JobFailure? {
        let judged = findings.expectations
        guard let first = judged.first(where: { !$0.holds }) else { return nil }
        let rest = judged.count { !$0.holds } - 1
        let kept = kept()
        var failure = JobFailure(
            first.message + (rest > 0 ? " (and \(rest) more)" : "") + (kept ?? ""),
            at: first.expectation.location, rule: .expectationFailed)
        failure.kept = kept
        failure.expectations = judged
        failure.preview = findings.preview
        return failure
    }

    /// The clock of `timeout`, on `queue`.
    private func watchTime() {
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

    private func end(_ outcome: WorkOutcome, output: TemporaryFile) -> JobOutcome {
        do {
            switch outcome {
            case .cancelled: throw CancellationError()
            case .failed(let failure): throw failure
            case .finished(let findings):
                if running.withLock({ $0.isCancelled }) { throw CancellationError() }
                // Somebody else made the same meanwhile: one of the two is enough.
                if findings.expectations.allSatisfy(\.holds), isMadeAlready {
                    output.discard()
                    return .upToDate
                }
                guard let result = try publish(findings, output: output) else { return .upToDate }
                return .succeeded(result)
            }
        } catch {
            output.discard()
            return self.outcome(of: error)
        }
    }

    // MARK: Publishing

    /// What is at the destination was made by just this plan, and is not to be made anew.
    private var isMadeAlready: Bool {
        guard let digest, state?.isForced == false else { return false }
        return (DestinationPath.mark(at: plan.destination)?.digest).map { digest.standing(of: $0) != .other }
            ?? false
    }

    /// Nil where somebody else published the same a moment before.
    private func publish(_ findings: WorkFindings, output: TemporaryFile) throws -> JobResult? {
        try checkSource(when: "while it was read")
        if let failure = failure(of: findings, leaving: keepsFailed ? keep(output) : nil) { throw failure }
        if JobWarnings(plan: plan, findings: findings).tellsOfDamage { digest = digest?.afterDamage }
        // Before the mark, which tells the file by its time.
        if plan.keepsFileTimes, let source = FileIdentity(path: plan.sourceName) {
            try output.setModified(seconds: source.modified, nanoseconds: source.modifiedNanoseconds)
        }
        let mark = DestinationPath.Mark(
            output: output.fingerprint, digest: digest?.value ?? "",
            owner: RunState.owner(plan.file, at: plan.destination),
            job: plan.id)
        let isMarked = output.setAttribute(DestinationPath.attribute, mark.text)
        try output.synchronize()
        if !isMarked { try state?.intend(plan, output: mark.output, digest: digest) }
        // Where somebody was quicker, whose file it is decides again.
        for _ in 0..<2 {
            let replaces = try replacesExisting()
            if replaces, isMadeAlready {
                output.discard()
                return nil
            }
            do {
                try output.publish(replacing: replaces)
                break
            } catch MediaError.destinationExists {
                continue
            }
        }
        guard output.isPublished else { throw MediaError.destinationExists }
        // Whoever moved the folder meanwhile has the output elsewhere.
        guard output.isAt(plan.destination) else {
            throw JobFailure(
                "the output was published, and is not at \(plan.destination): its folder was moved or replaced",
                at: plan.destinationLocation, rule: .destinationUnwritable)
        }
        if let digest { state?.succeeded(plan, digest: digest, seconds: elapsed) }
        let reports = findings.tracks
        return JobResult(
            destination: plan.destination, size: output.size, output: mark.output,
            duration: reports.map(\.end).max() ?? .zero,
            tracks: reports, seconds: elapsed, warnings: JobWarnings(plan: plan, findings: findings).lines,
            expectations: findings.expectations,
            loudness: findings.loudness, preview: findings.preview)
    }

    /// Gives an output that failed a name beside the one it was to have: `web.failed.mp4`. Only such a file of the
    /// same job is replaced. Tells what came of it.
    private func keep(_ output: TemporaryFile) -> String {
        let name = plan.destination.pathParts.last ?? "output"
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        let kept = String(name[..<dot] + ".failed" + name[dot...])
        let path = String(plan.destination.dropLast(name.count)) + kept
        let isOurs =
            DestinationPath.isKeptFailure(of: plan.id, at: path)
            && FileIdentity(path: path).map { !sources.contains(SourceFileKey($0)) } == true
        let mark = DestinationPath.Mark(
            output: output.fingerprint, digest: "", owner: RunState.owner(plan.file, at: plan.destination),
            job: plan.id)
        output.setAttribute(DestinationPath.failureAttribute, mark.text)
        do {
            try output.synchronize()
            try output.publish(as: kept, replacing: isOurs)
            return "; kept as \(path)"
        } catch MediaError.destinationExists {
            return "; not kept, since \(path) is another file"
        } catch {
            return "; not kept: \(error)"
        }
    }

    /// Whether what is at the destination may be replaced. Throws where it may not.
    private func replacesExisting() throws -> Bool {
        if let identity = FileIdentity(path: plan.destination),
            sources.contains(SourceFileKey(identity))
        {
            throw JobFailure(
                "the destination is a source, and sources are never overwritten: \(plan.destination)",
                at: plan.destinationLocation, rule: .destinationIsSource)
        }
        // What is up to date for any job file is nobody's loss.
        let owner = isMadeAlready ? nil : RunState.owner(plan.file, at: plan.destination)
        switch DestinationPath.occupant(of: plan.destination, owner: owner) {
        case .nothing: return false
        case .published: return true
        case .notAFile:
            throw JobFailure(
                "the destination is a folder or no regular file: \(plan.destination)",
                at: plan.destinationLocation,
                rule: .destinationExists)
        case .foreign where state?.owns(plan.destination, for: plan.file) == true: return true
        case .foreign:
            switch plan.ifExists {
            case .replace: return true
            case .skip: throw Skip(reason: "the destination exists")
            case .fail:
                throw JobFailure(
                    "\(DestinationPath.foreign(at: plan.destination)): \(plan.destination)",
                    at: plan.destinationLocation,
                    rule: .destinationExists)
            }
        }
    }

    private func makeFolder() throws {
        let folder = String(
            plan.destination[..<(plan.destination.lastSlash ?? plan.destination.startIndex)])
        if folder.isEmpty || FileIdentity(path: folder) != nil { return }
        guard plan.makesDirectories else {
            throw JobFailure(
                "the folder \(folder) doesn't exist, and `make_directories` is false",
                at: plan.destinationLocation,
                rule: .destinationUnwritable)
        }
        var path = ""
        for part in folder.pathParts {
            path += "/" + part
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
                throw MediaError.system(operation: "making the folder \(path)", errno: errno)
            }
        }
    }

    private func checkSource(when: String) throws {
        guard case .file(let path, let identity) = plan.source else { return }
        // Of what a server has, only who fetched it can tell; its worker reads it to the length that was planned.
        if SourceLocation.isRemote(path) { return }
        guard let now = FileIdentity(path: path) else {
            throw JobFailure("the source is gone: \(path)", at: plan.location, rule: .sourceUnreadable)
        }
        guard now == identity else {
            throw JobFailure(
                "the source changed \(when): \(path)", at: plan.location, rule: .sourceUnreadable)
        }
    }
}

/// A file, changed or not.
public struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Of a file that was looked at.
    public init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
