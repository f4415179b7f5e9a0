internal import ExactStrings
internal import CLinux
internal import Dispatch
internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Locking
package import Media
internal import FileSystem
internal import Publishing

/// The work of one job: executes the tasks of its graph, each after its dependencies. Runs on its own queue, which the
/// tasks block.
package actor JobWork {
    private let executor = QueueExecutor(label: "tandem.job")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let order: WorkOrder
    let environment: MediaEnvironment
    nonisolated var plan: JobPlan { order.plan }

    struct Running {
        var session: ReencodeSession?
        var outputWork: (any OutputWork)?
        /// Plans of the outputs that the session writes.
        var outputs: [OutputPlan] = []
        /// Number of sessions of the current task that have ended, and the maximum of its sessions.
        var rounds = (ended: 0, maximum: 1)
        /// Number of long tasks that have ended.
        var completedLongTasks = 0
    }
    private let graph: WorkGraph
    private let longTaskCount: Int
    /// First-pass statistics of each input, kept until its second pass has ended.
    private var passes: [Int: (files: PassFiles, tracks: [TrackIndex: EncoderPass])] = [:]
    /// Results of loudness measurements by track.
    private var loudness: [TrackIndex: LoudnessNormalizer.Result] = [:]
    /// Encodes of the outputs with a target size, by output index.
    private var fits: [Int: SizeFit] = [:]
    /// Probes and encodes of the outputs with a target quality, by output index.
    var qualityFits: [Int: QualityFit] = [:]
    /// Media files that are written but not verified yet, by output index.
    private var writtenOutputs: [Int: OutputVerification.Written] = [:]
    /// Findings on complete outputs, by output index.
    private var findingsByOutput: [Int: OutputFindings] = [:]
    let running = Guarded(Running())
    private let cancellation = Cancellation()

    /// Creates the work. Sources and unfinished outputs are opened in `environment`.
    package init(_ order: WorkOrder, in environment: MediaEnvironment) {
        self.order = order
        var environment = environment
        for input in order.plan.inputs {
            guard let package = input.package, case .file(let path, _) = input.source else { continue }
            environment.sources.packages.add(package, at: path)
        }
        self.environment = environment
        switch order.task {
        case .create: graph = order.plan.workGraph()
        case .evaluate: graph = order.plan.evaluationGraph
        case .verify(let known):
            graph = order.plan.verificationGraph
            for (index, findings) in known.outputs.enumerated() {
                writtenOutputs[index] = OutputVerification.Written(
                    reports: findings.tracks, stop: findings.stop)
            }
        }
        longTaskCount = max(1, graph.nodes.count(where: \.task.isLong))
    }

    /// Executes the work, once. Cancelling the task cancels the current step.
    package func run() async -> WorkOutcome {
        order.monitor.beginMeasuring { self.progress }
        defer { order.monitor.endMeasuring() }
        return await withTaskCancellationHandler {
            await execute()
        } onCancel: {
            cancellation.cancel()
        }
    }

    private nonisolated var progress: WorkProgress {
        let running = running.withLock { $0 }
        let (session, outputWork, outputs) = (running.session, running.outputWork, running.outputs)
        func workProgress(_ fraction: Double, media: Double = 0) -> WorkProgress {
            let ofTask = (Double(running.rounds.ended) + fraction) / Double(running.rounds.maximum)
            return WorkProgress(
                fraction: min(1, (Double(running.completedLongTasks) + ofTask) / Double(longTaskCount)),
                media: media)
        }
        if let outputWork { return workProgress(outputWork.fraction) }
        guard let session else { return workProgress(0) }
        let media = session.progress.seconds
        let total = outputs.map(\.expectedDuration).max()?.seconds ?? 0
        var fraction = total > 0 ? min(1, media / total) : 0
        let full = zip(outputs, session.writers).map { output, writer in
            output.media?.sizeLimit.map { Double(writer.writtenBytes) / Double($0) } ?? 0
        }
        fraction = max(fraction, min(1, full.min() ?? 0))
        return workProgress(fraction, media: media)
    }

    /// Returns the outcome after an error in a task of the graph; nil for an error outside the tasks.
    private func outcome(of error: any Error, in index: Int?) -> WorkOutcome {
        if cancellation.isCancelled || error is CancellationError { return .cancelled }
        return .failed(WorkFailures(plan: plan, task: index.map { graph.nodes[$0].task }).failure(of: error))
    }

    /// Configures how the allocator treats freed memory (`tandem_tune_allocator`). For encoders it is returned to the
    /// system, because their output could otherwise depend on earlier jobs. For copies it is kept: they create few
    /// frames, and allocating again would cost more.
    private func configureAllocator() {
        let isCopy = plan.outputs.filter { $0.isMedia || $0.hasChunks }.flatMap(\.tracks).allSatisfy {
            if case .copy = $0.action { true } else { false }
        }
        if order.ownsProcess {
            tandem_tune_allocator(isCopy ? 1 : 0)
            // Chunks have the same packets on every machine, also with encoders that read uninitialized memory.
            tandem_clear_allocations(plan.hasChunks ? 1 : 0)
        }
    }

    /// Executes the tasks one after another: concurrent tasks would add up their memory use. Only outputs are verified
    /// concurrently.
    private func execute() async -> WorkOutcome {
        configureAllocator()
        defer { passes = [:] }
        var completed: Set<Int> = []
        while let index = graph.next(done: completed) {
            do {
                completed.formUnion(try await perform(index, done: completed))
            } catch let failure as TaskFailure {
                return outcome(of: failure.error, in: failure.task)
            } catch {
                return outcome(of: error, in: index)
            }
            let isLong = graph.nodes[index].task.isLong
            running.withLock { running in
                (running.session, running.outputWork, running.rounds) = (nil, nil, (0, 1))
                if isLong { running.completedLongTasks += 1 }
            }
        }
        do { return .finished(try findings()) } catch { return outcome(of: error, in: nil) }
    }

    /// The failure of a task other than the one that was to be performed.
    private struct TaskFailure: Error {
        /// Index of the task in the graph.
        let task: Int
        let error: any Error
    }

    /// Performs a task, and with a verification all others that are ready. Returns the indices of these tasks.
    private func perform(_ index: Int, done: Set<Int>) async throws -> [Int] {
        switch graph.nodes[index].task {
        case .measure(let output, let track): try measure(TrackIndex(output: output, track: track))
        case .firstPass(let input): try await runFirstPass(at: input)
        case .encode(let input): try await encode(input)
        case .correct(let input): try await correct(input)
        case .search(let input): try await search(input)
        case .refine(let input): try await refine(input)
        case .produce(let output): try runOutputWork(output)
        case .verify:
            let tasks = graph.verifications(done: done)
            try verify(tasks)
            return tasks
        case .evaluate(let output): try evaluate(output)
        }
        return [index]
    }

    private func builder(_ input: Int) -> SessionBuilder {
        SessionBuilder(
            plan: plan, input: input, environment: environment, sharesProcessors: order.sharesProcessors)
    }

    // MARK: Tasks

    /// Measures the loudness of a track and creates the filters that normalize it.
    private func measure(_ trackIndex: TrackIndex) throws {
        let (normalizer, encoding) = try builder(plan.outputs[trackIndex.output].input).normalizer(
            of: trackIndex)
        try cancellation.begin { normalizer.cancel() }
        let encoder = encoding.encoder
        loudness[trackIndex] = try normalizer.chain(
            after: encoding.audio?.filters, layout: encoder.channelLayout ?? .stereo,
            sampleRate: encoder.sampleRate)
    }

    private func runFirstPass(at input: Int) async throws {
        guard let scratch = order.scratch else {
            throw MediaError.internalError("two passes without a scratch file")
        }
        let files = try PassFiles()
        let builder = builder(input)
        let first = try builder.buildFirstPass(scratch: scratch, files: files)
        try await run(first.session, writing: builder)
        // Frees the disk space of the scratch file for the output.
        scratch.empty()
        var tracks: [TrackIndex: EncoderPass] = [:]
        for (trackIndex, input) in zip(first.tracks, first.session.writer.inputs) {
            let track = plan.outputs[trackIndex.output].tracks[trackIndex.track]
            if case .encode(let encoding) = track.action {
                try files.check(trackIndex, encoder: encoding.encoder.encoder, frames: input.appendedSamples)
            }
            tracks[trackIndex] = .second(
                statistics: files.path(of: trackIndex), text: input.passStatistics)
        }
        passes[input] = (files, tracks)
    }

    private func encode(_ input: Int) async throws {
        var builder = builder(input)
        let crfs = qualityFits.filter { plan.outputs[$0.key].input == input }.compactMapValues(\.nextEncode)
        builder.plan = plan.with(crfs: crfs)
        try await write(builder)
        // Corrections use the statistics again.
        if !fits.keys.contains(where: { plan.outputs[$0].input == input }) { passes[input] = nil }
    }

    /// Encodes outputs of an input again that missed their target size, with corrected bit rates and the statistics of the
    /// first pass. Throws if an output is still larger than its target size.
    private func correct(_ input: Int) async throws {
        defer { passes[input] = nil }
        running.withLock { $0.rounds = (0, SizeFit.maximumAttempts - 1) }
        for _ in 1..<SizeFit.maximumAttempts {
            let rates = fits.filter { plan.outputs[$0.key].input == input }.compactMapValues(\.nextRate)
            guard !rates.isEmpty else { break }
            for output in rates.keys { order.outputs[output].empty() }
            var builder = SessionBuilder(
                plan: plan.with(bitRates: rates), input: input, environment: environment,
                sharesProcessors: order.sharesProcessors)
            builder.selected = Set(rates.keys)
            try await write(builder)
            running.withLock { running in
                running.session = nil
                running.rounds.ended += 1
            }
        }
        for (index, fit) in fits.sorted(by: { $0.key < $1.key })
        where fit.isOver && plan.outputs[index].input == input {
            throw JobFailure(
                plan.outputs[index].prefixed(
                    "the file exceeds `target_size` of \(PlanText.bytes(fit.target.bytes)) after \(counted(fit.attempts.count, "encode")) (\(fit.text))"
                ), at: fit.target.location, rule: .targetSize)
        }
    }

    /// Writes the outputs of a session.
    func write(_ builder: SessionBuilder) async throws {
        let (session, recorders) = try builder.build(
            files: order.outputs, loudness: loudness, passes: passes[builder.input]?.tracks ?? [:])
        try await run(session, writing: builder)
        try builder.checkAddedFiles()
        var (reports, evidence) = (session.reports[...], session.cutEvidence[...])
        for (output, writer) in zip(builder.outputs, session.writers) {
            let count = plan.outputs[output].tracks.count
            writtenOutputs[output] = OutputVerification.Written(
                reports: Array(reports.prefix(count)), evidence: Array(evidence.prefix(count)),
                stop: writer.stop, recorder: recorders[output])
            (reports, evidence) = (reports.dropFirst(count), evidence.dropFirst(count))
            noteSize(of: output, writer, in: builder.plan)
        }
    }

    /// Adds a finished file to the encodes of an output with a target size.
    private func noteSize(of output: Int, _ writer: AssetWriter, in plan: JobPlan) {
        guard let (target, track) = plan.outputs[output].targetSize,
            let encoding = plan.outputs[output].tracks[track].encoding
        else { return }
        fits[output, default: SizeFit(target)].add(
            SizeFit.Attempt(
                bitRate: encoding.encoder.bitRate ?? 0, size: order.outputs[output].size,
                video: writer.bytesOfInputs[track]))
    }

    /// Runs a session of a task to its end.
    func run(_ session: ReencodeSession, writing builder: SessionBuilder) async throws {
        let outputs = builder.outputs.map { builder.plan.outputs[$0] }
        running.withLock { ($0.session, $0.outputs) = (session, outputs) }
        try cancellation.begin { session.cancel() }
        switch await session.run() {
        case .cancelled: throw CancellationError()
        case .failed(let error): throw error
        case .completed: return
        }
    }

    private func runOutputWork(_ output: Int) throws {
        let work = try builder(plan.outputs[output].input).work(
            output, files: order.outputs, cancellation: cancellation)
        running.withLock { $0.outputWork = work }
        findingsByOutput[output] = try work.run()
    }

    var isCancelled: @Sendable () -> Bool { { [cancellation] in cancellation.isCancelled } }

    private func evaluate(_ output: Int) throws {
        findingsByOutput[output] = OutputFindings(
            expectations: try verification(of: output, plan.tasks[output]).expectations())
    }

    private func verification(of index: Int, _ task: OutputTask) -> OutputVerification {
        OutputVerification(
            task: task, file: order.outputs[index], environment: environment, isCancelled: isCancelled)
    }

    /// Verifies outputs concurrently.
    /// - Throws: `TaskFailure` of the first task whose output isn't as planned.
    private func verify(_ tasks: [Int]) throws {
        let outputs = tasks.flatMap { plan.outputs(of: graph.nodes[$0].task) }
        let written = try outputs.map { index in
            guard let written = writtenOutputs.removeValue(forKey: index) else {
                throw MediaError.internalError("an output was not written")
            }
            return (
                output: written,
                verification: verification(of: index, plan.tasks[index].stopped(at: written.stop))
            )
        }
        let verified = try DispatchQueue.concurrentMap(throwing: tasks.count) {
            (position) throws(TaskFailure) in
            do {
                return try written[position].verification.verified(written[position].output)
            } catch {
                throw TaskFailure(task: tasks[position], error: error)
            }
        }
        for (index, verified) in zip(outputs, verified) {
            findingsByOutput[index] = findings(on: index, verified)
        }
    }

    /// Returns the findings on an output, with those of its verification.
    private func findings(on index: Int, _ verified: OutputVerification.Verified) -> OutputFindings {
        if case .verify(let known) = order.task {
            var findings = known.outputs[index]
            (findings.losses, findings.expectations) = (verified.losses, verified.expectations)
            return findings
        }
        return OutputFindings(
            tracks: verified.written.reports, stop: verified.written.stop, parts: verified.parts,
            rendition: verified.rendition, losses: verified.losses, expectations: verified.expectations,
            loudness: loudness.filter { $0.key.output == index }.sorted { $0.key.track < $1.key.track }.map {
                OutputResult.Normalization(
                    track: $0.key.track, before: $0.value.before, after: $0.value.after)
            },
            sizeAttempts: (fits[index]?.attempts ?? []).map {
                OutputResult.SizeAttempt(bitRate: $0.bitRate, size: $0.size)
            }, quality: qualityFits[index]?.result, preview: nil)
    }

    /// Returns the findings of all outputs, which are complete. Adds previews if the order requests them.
    private func findings() throws -> WorkFindings {
        var findings = WorkFindings(outputs: plan.outputs.indices.compactMap { findingsByOutput[$0] })
        guard order.makesPreview else { return findings }
        order.onChecked(findings)
        for (index, task) in plan.tasks.enumerated() where task.output.isMedia {
            let task = task.stopped(at: findings.outputs[index].stop)
            findings.outputs[index].preview = try PreviewMaker(
                task: task, path: order.outputs[index].reopenPath, environment: environment,
                isCancelled: isCancelled
            ).make()
        }
        return findings
    }
}
