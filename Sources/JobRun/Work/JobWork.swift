internal import ExactStrings
internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// The work of one job: loudness, passes, session, check.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only, or is behind the mutex.
final class JobWork: WorkHandle, @unchecked Sendable {
    private let order: WorkOrder
    private var plan: JobPlan { order.plan }
    private let queue = DispatchQueue(label: "tandem.job")

    private struct Running {
        var session: ReencodeSession?
        var normalizer: LoudnessNormalizer?
        var isCancelled = false
        var isInSecondPass = false
    }
    /// What was found of each track's loudness; touched on `queue` only.
    private var loudness: [Int: LoudnessNormalizer.Result] = [:]
    private let running = Guarded(Running())

    /// Hears that the output is whole, before it is looked at for a report.
    private let onChecked: @Sendable (WorkFindings) -> Void

    init(_ order: WorkOrder, onChecked: @escaping @Sendable (WorkFindings) -> Void = { _ in }) {
        self.order = order
        self.onChecked = onChecked
    }

    /// Begins; `completion` is called once, on a private queue.
    func start(completion: @escaping @Sendable (WorkOutcome) -> Void) {
        queue.async { @Sendable in
            do {
                try self.begin(completion)
            } catch {
                completion(self.outcome(of: error))
            }
        }
    }

    /// Cancels at once; the completion still comes.
    func cancel() {
        let (session, normalizer) = running.withLock { running in
            running.isCancelled = true
            return (running.session, running.normalizer)
        }
        session?.cancel()
        normalizer?.cancel()
    }

    var progress: WorkProgress {
        let (found, isSecond) = running.withLock { ($0.session, $0.isInSecondPass) }
        guard let session = found else { return WorkProgress() }
        let media = session.progress.seconds
        let total = plan.expectedDuration.seconds
        var fraction = total > 0 ? min(1, media / total) : 0
        if let limit = plan.sizeLimit {
            fraction = max(fraction, min(1, Double(session.writer.writtenBytes) / Double(limit)))
        }
        guard plan.hasTwoPasses else { return WorkProgress(fraction: fraction, media: media) }
        return WorkProgress(fraction: (fraction + (isSecond ? 1 : 0)) / 2, media: media)
    }

    private func outcome(of error: any Error) -> WorkOutcome {
        if running.withLock({ $0.isCancelled }) || error is CancellationError { return .cancelled }
        if let failure = error as? JobFailure { return .failed(failure) }
        return .failed(
            JobFailure(
                (isOfSource(error) ? "\(sourceName), \(error)" : "\(error)") + remedy(for: error),
                at: location(of: error),
                isTransient: Transience.isTransient(error)))
    }

    /// What can be done about it.
    private func remedy(for error: any Error) -> String {
        switch error as? MediaError {
        case .damaged?, .truncated?: break
        case .reading(_, _, let error)? where error.isInvalidData: break
        default: return ""
        }
        return plan.damagePolicy == .fail
            ? " (`on_damage: skip` leaves out what is damaged, and says how much)" : ""
    }

    private func isOfSource(_ error: any Error) -> Bool {
        switch error as? MediaError {
        case .reading, .damaged, .discontinuity, .truncated, .noSamples, .noTimes, .changedHeaders,
            .undecodable,
            .noPackets:
            true
        default: false
        }
    }

    private var sourceName: String {
        if case .pattern = plan.source { return plan.sourceName }
        return plan.sourceName.pathParts.last ?? plan.sourceName
    }

    /// Which part of the job file asked for what failed.
    private func location(of error: any Error) -> SourceRange {
        switch error as? MediaError {
        case .writing, .system, .destinationExists: plan.destinationLocation
        case .nothingFits, .overLimit: plan.sizeLimitLocation ?? plan.location
        case .reading(let track, _, _), .damaged(let track, _), .truncated(let track, _, _),
            .discontinuity(let track, _, _), .noSamples(let track), .noTimes(let track),
            .undecodable(let track, _), .unorderedTimes(let track, _), .hiddenBetween(let track, _),
            .noPackets(let track, _), .lostPackets(let track, _, _),
            .changedHeaders(let track, _):
            plan.tracks.first { track.hasPrefix("track \($0.source.index) ") }?.location ?? plan.location
        case .encoding(let track, _), .unfit(let track, _, _, _):
            plan.tracks.enumerated().first {
                track == "\($0.element.source.mediaType.rawValue) \($0.offset)"
            }?.element.location
                ?? plan.location
        default: plan.location
        }
    }

    /// Encoders are to find the memory of a new process, whatever was done before; to copy needs no such care.
    private func settleMemory() {
        let isCopy = plan.tracks.allSatisfy { if case .copy = $0.action { true } else { false } }
        if order.isAlone { tandem_tune_allocator(isCopy ? 1 : 0) }
    }

    private func begin(_ completion: @escaping @Sendable (WorkOutcome) -> Void) throws {
        settleMemory()
        if order.onlyJudges { return completion(.finished(try judge())) }
        let builder = SessionBuilder(plan: plan)
        try measureLoudness(builder)
        guard plan.hasTwoPasses, let scratch = order.scratch else {
            return try encode(builder, passes: [:], files: nil, completion)
        }
        let files = try PassFiles()
        // What the first pass writes is nobody's.
        let first = try builder.buildFirstPass(output: scratch, files: files)
        try begin(first.session)
        first.session.start { @Sendable outcome in
            self.queue.async { @Sendable in
                do {
                    switch outcome {
                    case .cancelled: throw CancellationError()
                    case .failed(let error): throw error
                    case .completed: break
                    }
                    // The output has room where this was.
                    scratch.empty()
                    self.running.withLock { $0.isInSecondPass = true }
                    var passes: [Int: EncoderPass] = [:]
                    for (position, input) in zip(first.positions, first.session.writer.inputs) {
                        if case .encode(let encoding) = self.plan.tracks[position].action {
                            try files.check(
                                position, encoder: encoding.encoder.encoder, frames: input.appendedSamples)
                        }
                        passes[position] = .second(
                            statistics: files.path(ofTrack: position), text: input.passStatistics)
                    }
                    try self.encode(builder, passes: passes, files: files, completion)
                } catch {
                    completion(self.outcome(of: error))
                }
            }
        }
    }

    /// The session that makes the output. `files` are kept until it has ended.
    private func encode(
        _ builder: SessionBuilder, passes: [Int: EncoderPass], files: PassFiles?,
        _ completion: @escaping @Sendable (WorkOutcome) -> Void
    ) throws {
        let session = try builder.build(output: order.output, loudness: loudness, passes: passes)
        try begin(session)
        session.start { @Sendable outcome in
            self.queue.async { @Sendable in
                withExtendedLifetime(files) {
                    completion(self.end(outcome, session: session))
                }
            }
        }
    }

    private func begin(_ session: ReencodeSession) throws {
        let goesOn = running.withLock { running in
            running.session = session
            return !running.isCancelled
        }
        guard goesOn else { throw CancellationError() }
    }

    /// The first of two passes over sound that is to be brought to a loudness.
    private func measureLoudness(_ builder: SessionBuilder) throws {
        for (position, normalizer, encoding) in try builder.normalizers() {
            let goesOn = running.withLock { running in
                running.normalizer = normalizer
                return !running.isCancelled
            }
            guard goesOn else { throw CancellationError() }
            let encoder = encoding.encoder
            loudness[position] = try normalizer.chain(
                after: encoding.audio?.filters, layout: encoder.channelLayout ?? .stereo,
                sampleRate: encoder.sampleRate)
        }
    }

    private func end(_ outcome: SessionOutcome, session: ReencodeSession) -> WorkOutcome {
        do {
            switch outcome {
            case .cancelled: throw CancellationError()
            case .failed(let error): throw error
            case .completed: return .finished(try check(session))
            }
        } catch {
            return self.outcome(of: error)
        }
    }

    /// Holds what is there against what is expected of it.
    private func judge() throws -> WorkFindings {
        let isCancelled: @Sendable () -> Bool = { self.running.withLock { $0.isCancelled } }
        let judged = try ExpectationJudge(
            plan: plan, path: order.output.reopenPath, size: order.output.size, isCancelled: isCancelled
        ).judge()
        if isCancelled() { throw CancellationError() }
        return WorkFindings(tracks: [], stop: nil, expectations: judged, loudness: [], preview: nil)
    }

    /// Reads the finished file back: is it what was planned, and what was expected?
    private func check(_ session: ReencodeSession) throws -> WorkFindings {
        let (reports, stop) = (session.reports, session.writer.stop)
        let plan = plan.stopped(at: stop)
        let isCancelled: @Sendable () -> Bool = { self.running.withLock { $0.isCancelled } }
        let path = order.output.reopenPath
        // libavformat takes such a file for none.
        if reports.allSatisfy({ $0.writtenPackets == 0 }),
            ContainerType.named(plan.container)?.mayBeEmpty != true,
            plan.tracks.allSatisfy({ $0.source.mediaType == .subtitle }), !plan.tracks.isEmpty
        {
            throw JobFailure(
                "no cue is shown in what is asked for, and \(plan.container) can't be without one",
                at: plan.location)
        }
        let losses: [String]
        switch OutputVerifier(
            plan: plan, reports: reports, cutEvidence: session.cutEvidence, stop: stop,
            isCancelled: isCancelled
        ).verdict(path: path) {
        case .whole(let found): losses = found
        case .wrong(let problem): throw JobFailure(problem, at: plan.location)
        }
        let judged = try ExpectationJudge(
            plan: plan, path: path, size: order.output.size, isCancelled: isCancelled
        ).judge()
        if isCancelled() { throw CancellationError() }
        var findings = WorkFindings(
            tracks: reports, stop: stop, losses: losses, expectations: judged,
            loudness: loudness.sorted { $0.key < $1.key }.map {
                JobResult.Normalization(track: $0.key, before: $0.value.before, after: $0.value.after)
            }, preview: nil)
        guard order.makesPreview else { return findings }
        onChecked(findings)
        findings.preview = try PreviewMaker(plan: plan, path: path, isCancelled: isCancelled).make()
        return findings
    }
}
