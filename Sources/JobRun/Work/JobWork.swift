internal import ExactStrings
internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing

/// The work of one job: for each of its inputs loudness, passes and session, then the check of each output.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only, or is behind the mutex.
final class JobWork: WorkHandle, @unchecked Sendable {
    private let order: WorkOrder
    private let environment: MediaEnvironment
    private var plan: JobPlan { order.plan }
    private let queue = DispatchQueue(label: "tandem.job")

    private struct Running {
        var session: ReencodeSession?
        var normalizer: LoudnessNormalizer?
        var isCancelled = false
        /// Sessions that have ended, and what the one that runs is of.
        var sessionsDone = 0
        var input = 0
    }
    /// What was found of each track's loudness; touched on `queue` only.
    private var loudness: [TrackPlace: LoudnessNormalizer.Result] = [:]
    /// What was found of the outputs that are whole, by their places; touched on `queue` only.
    private var found: [Int: OutputFindings] = [:]
    private let running = Guarded(Running())

    /// Hears that the output is whole, before it is looked at for a report.
    private let onChecked: @Sendable (WorkFindings) -> Void

    /// Sources and unfinished outputs are found with `environment`.
    init(
        _ order: WorkOrder, in environment: MediaEnvironment,
        onChecked: @escaping @Sendable (WorkFindings) -> Void = { _ in }
    ) {
        self.order = order
        self.environment = environment
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
        let state = running.withLock { ($0.session, $0.sessionsDone, $0.input) }
        guard let session = state.0 else { return WorkProgress() }
        let outputs = plan.outputs.filter { $0.input == state.2 }
        let media = session.progress.seconds
        let total = outputs.map(\.expectedDuration).max()?.seconds ?? 0
        var fraction = total > 0 ? min(1, media / total) : 0
        let full = zip(outputs, session.writers).map { output, writer in
            output.sizeLimit.map { Double(writer.writtenBytes) / Double($0) } ?? 0
        }
        fraction = max(fraction, min(1, full.min() ?? 0))
        return WorkProgress(
            fraction: min(1, (Double(state.1) + fraction) / Double(sessionsInAll)), media: media)
    }

    /// One for each input, and one more for each whose tracks are looked at once before.
    private var sessionsInAll: Int {
        plan.inputs.indices.reduce(0) { count, input in
            count + 1 + (plan.outputs.contains { $0.input == input && $0.hasTwoPasses } ? 1 : 0)
        }
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
        return plan.inputs.contains { $0.damagePolicy == .fail }
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
        if case .pattern? = plan.inputs.first?.source { return plan.sourceName }
        return plan.sourceName.pathParts.last ?? plan.sourceName
    }

    /// Which part of the job file asked for what failed.
    private func location(of error: any Error) -> SourceRange {
        let only = plan.outputs.count == 1 ? plan.outputs.first : nil
        let tracks = plan.outputs.flatMap { output in output.tracks.enumerated().map { ($0, $1) } }
        if error is SystemError || error is PublishingError {
            return only?.destinationLocation ?? plan.location
        }
        switch error as? MediaError {
        case .writing: return only?.destinationLocation ?? plan.location
        case .nothingFits, .overLimit:
            return plan.outputs.lazy.compactMap(\.sizeLimitLocation).first ?? plan.location
        case .reading(let track, _, _), .damaged(let track, _), .truncated(let track, _, _),
            .discontinuity(let track, _, _), .noSamples(let track), .noTimes(let track),
            .undecodable(let track, _), .unorderedTimes(let track, _), .hiddenBetween(let track, _),
            .noPackets(let track, _), .lostPackets(let track, _, _),
            .changedHeaders(let track, _):
            return tracks.first { track.hasPrefix("track \($0.1.source.index) ") }?.1.location
                ?? plan.location
        case .encoding(let track, _), .unfit(let track, _, _, _):
            // Each writer counts its own tracks: of several outputs' it may be any.
            let meant = Set(
                tracks.filter { track == "\($0.1.source.mediaType.rawValue) \($0.0)" }.map(\.1.location))
            return meant.count == 1 ? meant.first ?? plan.location : plan.location
        default: return plan.location
        }
    }

    /// Encoders are to find the memory of a new process, whatever was done before; to copy needs no such care.
    private func settleMemory() {
        let isCopy = plan.outputs.flatMap(\.tracks).allSatisfy {
            if case .copy = $0.action { true } else { false }
        }
        if order.isAlone { tandem_tune_allocator(isCopy ? 1 : 0) }
    }

    private func begin(_ completion: @escaping @Sendable (WorkOutcome) -> Void) throws {
        settleMemory()
        if order.onlyJudges { return completion(.finished(try judge())) }
        try make(input: 0, completion)
    }

    /// Makes the outputs of an input, then those of the next ones.
    private func make(input: Int, _ completion: @escaping @Sendable (WorkOutcome) -> Void) throws {
        guard plan.inputs.indices.contains(input) else { return completion(.finished(try findings())) }
        running.withLock { $0.input = input }
        let builder = SessionBuilder(plan: plan, input: input, environment: environment)
        try measureLoudness(builder)
        guard let scratch = order.scratch else {
            return try encode(builder, passes: [:], files: nil, completion)
        }
        let files = try PassFiles()
        // What the first pass writes is nobody's.
        guard let first = try builder.buildFirstPass(scratch: scratch, files: files) else {
            return try encode(builder, passes: [:], files: nil, completion)
        }
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
                    self.running.withLock { $0.sessionsDone += 1 }
                    var passes: [TrackPlace: EncoderPass] = [:]
                    for (place, input) in zip(first.tracks, first.session.writer.inputs) {
                        let track = self.plan.outputs[place.output].tracks[place.track]
                        if case .encode(let encoding) = track.action {
                            try files.check(
                                place, encoder: encoding.encoder.encoder, frames: input.appendedSamples)
                        }
                        passes[place] = .second(
                            statistics: files.path(of: place), text: input.passStatistics)
                    }
                    try self.encode(builder, passes: passes, files: files, completion)
                } catch {
                    completion(self.outcome(of: error))
                }
            }
        }
    }

    /// The session that makes the outputs of an input. `files` are kept until it has ended.
    private func encode(
        _ builder: SessionBuilder, passes: [TrackPlace: EncoderPass], files: PassFiles?,
        _ completion: @escaping @Sendable (WorkOutcome) -> Void
    ) throws {
        let session = try builder.build(files: order.outputs, loudness: loudness, passes: passes)
        try begin(session)
        session.start { @Sendable outcome in
            self.queue.async { @Sendable in
                withExtendedLifetime(files) {
                    do {
                        try self.end(outcome, of: session, builder)
                        self.running.withLock { $0.sessionsDone += 1 }
                        try self.make(input: builder.input + 1, completion)
                    } catch {
                        completion(self.outcome(of: error))
                    }
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

    /// The first of two passes over audio that is to be brought to a loudness.
    private func measureLoudness(_ builder: SessionBuilder) throws {
        for (place, normalizer, encoding) in try builder.normalizers() {
            let goesOn = running.withLock { running in
                running.normalizer = normalizer
                return !running.isCancelled
            }
            guard goesOn else { throw CancellationError() }
            let encoder = encoding.encoder
            loudness[place] = try normalizer.chain(
                after: encoding.audio?.filters, layout: encoder.channelLayout ?? .stereo,
                sampleRate: encoder.sampleRate)
        }
    }

    /// Looks at each output of a session that has ended.
    private func end(_ outcome: SessionOutcome, of session: ReencodeSession, _ builder: SessionBuilder) throws
    {
        switch outcome {
        case .cancelled: throw CancellationError()
        case .failed(let error): throw error
        case .completed: break
        }
        var (reports, evidence) = (session.reports[...], session.cutEvidence[...])
        for (index, writer) in zip(builder.outputs, session.writers) {
            let count = plan.outputs[index].tracks.count
            found[index] = try check(
                index, reports: Array(reports.prefix(count)), evidence: Array(evidence.prefix(count)),
                stop: writer.stop)
            (reports, evidence) = (reports.dropFirst(count), evidence.dropFirst(count))
        }
    }

    private var isCancelled: @Sendable () -> Bool { { self.running.withLock { $0.isCancelled } } }

    /// Holds what is there against what is expected of it.
    private func judge() throws -> WorkFindings {
        let outputs = try zip(plan.tasks, order.outputs).map { task, file in
            let judged = try ExpectationJudge(
                task: task, path: file.reopenPath, size: file.size, environment: environment,
                isCancelled: isCancelled
            ).judge()
            return OutputFindings(tracks: [], stop: nil, expectations: judged, loudness: [], preview: nil)
        }
        if isCancelled() { throw CancellationError() }
        return WorkFindings(outputs: outputs)
    }

    /// Reads a finished file back: is it what was planned, and what was expected?
    private func check(
        _ index: Int, reports: [TrackReport], evidence: [CutEvidence], stop: MediaTime?
    ) throws -> OutputFindings {
        let task = plan.tasks[index].stopped(at: stop)
        let (output, file) = (task.output, order.outputs[index])
        // libavformat takes such a file for none.
        if reports.allSatisfy({ $0.writtenPackets == 0 }),
            ContainerType.named(output.container)?.mayBeEmpty != true,
            output.tracks.allSatisfy({ $0.source.mediaType == .subtitle }), !output.tracks.isEmpty
        {
            throw JobFailure(
                said(
                    "no cue is shown in what is asked for, and \(output.container) can't be without one",
                    of: output), at: output.location)
        }
        let losses: [String]
        switch OutputVerifier(
            task: task, reports: reports, cutEvidence: evidence, stop: stop, environment: environment,
            isCancelled: isCancelled
        ).verdict(path: file.reopenPath) {
        case .whole(let found): losses = found
        case .wrong(let problem): throw JobFailure(said(problem, of: output), at: output.location)
        }
        let judged = try ExpectationJudge(
            task: task, path: file.reopenPath, size: file.size, environment: environment,
            isCancelled: isCancelled
        ).judge()
        if isCancelled() { throw CancellationError() }
        return OutputFindings(
            tracks: reports, stop: stop, losses: losses, expectations: judged,
            loudness: loudness.filter { $0.key.output == index }.sorted { $0.key.track < $1.key.track }.map {
                OutputResult.Normalization(
                    track: $0.key.track, before: $0.value.before, after: $0.value.after)
            }, preview: nil)
    }

    /// Of a job with several outputs, which one it is about.
    private func said(_ problem: String, of output: OutputPlan) -> String {
        output.id.map { "output \($0): \(problem)" } ?? problem
    }

    /// Everything that was found, all outputs being whole; with what a report shows of them.
    private func findings() throws -> WorkFindings {
        var findings = WorkFindings(outputs: plan.outputs.indices.compactMap { found[$0] })
        guard order.makesPreview else { return findings }
        onChecked(findings)
        for (index, task) in plan.tasks.enumerated() {
            let task = task.stopped(at: findings.outputs[index].stop)
            findings.outputs[index].preview = try PreviewMaker(
                task: task, path: order.outputs[index].reopenPath, environment: environment,
                isCancelled: isCancelled
            ).make()
        }
        return findings
    }
}
