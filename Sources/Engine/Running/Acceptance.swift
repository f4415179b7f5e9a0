package import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import JobRun
internal import JobSpec
package import JobStages
internal import LibAV
internal import Media
internal import PlanWork
internal import Publishing

/// The acceptance of existing outputs as up to date: they are recorded with the current plan instead of being created again.
///
/// An output is accepted if it exists as a whole, has the container, tracks and length that the plan describes, and meets its
/// expectations. Settings of encoders aren't compared: the user decides that they make no difference. Images, waveforms and
/// packages, which aren't read, must be unchanged since they were published.
package struct Acceptance: Sendable {
    private let set: JobFileSet
    private let strictness: Pipeline.Strictness
    private let state: StateLocation
    private let workers: WorkerSettings

    /// The verdict on an output.
    package struct Verdict: Sendable {
        /// Name of the output, such as `web/hd`.
        package let name: String
        package let outcome: Outcome
    }

    package enum Outcome: Sendable {
        /// The output is recorded as up to date; the reasons why a run would have created it.
        case accepted(reasons: [String])
        /// The output was up to date already.
        case current
        /// The job has no output, and is no failure: a condition doesn't hold; the value is the reason.
        case omitted(String)
        /// The output isn't accepted; the value is the reason.
        case refused(String)
    }

    package init(
        of set: JobFileSet, _ strictness: Pipeline.Strictness, state: StateLocation, workers: WorkerSettings
    ) {
        (self.set, self.strictness, self.state, self.workers) = (set, strictness, state, workers)
    }

    /// Plans the jobs with the given names, all jobs if there are none, and accepts their outputs. Returns the diagnostics of jobs
    /// that can't be planned. `waits`: whether to wait for a run that uses the same state folder. `report` receives each verdict
    /// as soon as it is final.
    /// - Throws: `Pipeline.Rejection` if the job files have errors or outputs collide, and `EngineError` for a state that is in
    ///   use or can't be written, or workers that can't be started.
    package func run(
        only names: [String], from argument: String, waits: Bool, _ report: (Verdict) -> Void
    ) async throws -> DiagnosticSink {
        let checked = try set.loaded.checked(strictness)
        let locks = try state.lock(set, waits: waits)
        defer { withExtendedLifetime(locks) {} }
        let state = try state.open(set)
        let pool = try workers.pool(in: locks.first?.folder, set.access)
        defer {
            workers.report(pool)
            pool?.close()
        }
        let prober = CachingProber(pool ?? set.access.prober, cache: nil, state: state)
        let performer: any WorkPerformer =
            pool ?? LocalPerformer(MediaEnvironment(sources: set.access.sources))
        // Nothing is accepted if outputs collide or are sources.
        let planned = try checked.opened(by: prober).planned(
            only: names, from: argument, memory: FullPlanMemory(state, ownsAnyFile: true)
        ).runnable().planned
        let session = Session(
            files: planned.files, names: Set(names.map(\.exact)), state: state, prober: prober,
            performer: performer, root: set.access.root)
        try await session.accept(planned.plan.jobs, report)
        for skip in planned.plan.skips where session.isNamed(skip.id, skip.base) {
            report(Verdict(name: skip.id, outcome: .omitted("skipped: \(skip.reason)")))
        }
        for refusal in planned.plan.refusals where session.isNamed(refusal.id, refusal.base) {
            let error = refusal.diagnostics.first { $0.severity == .error }
            report(Verdict(name: refusal.id, outcome: .refused(error?.message ?? "the job can't be planned")))
        }
        try StateLocation.convertingErrors { () throws(StateError) in try state.save() }
        return planned.diagnostics
    }
}

/// The acceptance of planned jobs' outputs.
private struct Session {
    let files: [JobFile]
    /// Ids of the jobs and instances whose outputs are accepted; empty for all.
    let names: Set<ExactString>
    let state: RunState
    let prober: any SourceProber
    let performer: any WorkPerformer
    let root: PathRoot

    func isNamed(_ id: String, _ base: String) -> Bool {
        names.isEmpty || names.contains(id.exact) || names.contains(base.exact)
    }

    /// Accepts the outputs of the named jobs, and reports the verdicts. Other jobs are those that they require.
    func accept(_ jobs: [JobPlan], _ report: (Acceptance.Verdict) -> Void) async throws {
        // Destinations of outputs that a run would create.
        var outdated: Set<ExactString> = []
        for job in jobs {
            let rerun = job.inputs.flatMap(\.jobOutputs).first { outdated.contains($0.path.exact) }?.job
            let job = rerun == nil ? replanned(job) : job
            for task in job.tasks {
                let outcome: Acceptance.Outcome
                if let rerun {
                    outcome = .refused("the job `\(rerun)`, whose output it reads, isn't up to date")
                } else if isNamed(job.id, job.base) {
                    outcome = try await accept(task, of: job)
                } else {
                    outcome = try reasons(for: task, of: job).lines.isEmpty ? .current : .refused("")
                }
                if case .refused = outcome, let path = task.output.destination { outdated.insert(path.exact) }
                // A check has no output that could be accepted.
                if isNamed(job.id, job.base), task.output.isPublished || !names.isEmpty {
                    report(Acceptance.Verdict(name: task.name, outcome: outcome))
                }
            }
        }
    }

    /// Returns the plan of a job with the existing outputs of other jobs that it reads.
    private func replanned(_ job: JobPlan) -> JobPlan {
        guard !job.readJobs.isEmpty else { return job }
        return (try? BatchPlanner.replan(job, in: files, prober: prober))?.plan ?? job
    }

    private func reasons(for task: OutputTask, of job: JobPlan) throws(EngineError) -> RunReasons {
        try StateLocation.convertingErrors { () throws(StateError) in try state.reasons(for: task, of: job) }
    }

    private func accept(_ task: OutputTask, of job: JobPlan) async throws -> Acceptance.Outcome {
        guard task.output.isPublished, let destination = task.output.destination else {
            return .refused("a check has no output")
        }
        let reasons = try reasons(for: task, of: job)
        if let omission = reasons.omission { return .omitted(omission.reason) }
        if reasons.lines.isEmpty { return .current }
        guard let digest = state.relation(of: task).digest else {
            return .refused("the source can't be read")
        }
        for path in task.output.files {
            guard let status = FileStatus(path: path, followingLinks: false) else {
                return .refused("it doesn't exist: \(path)")
            }
            if status.isLink { return .refused("it is a link: \(path)") }
        }
        var notes: [String] = []
        if let owner = state.owner(ofFile: task.file, at: destination),
            let mark = DestinationPath.mark(at: destination), mark.owner != owner
        {
            // Both job files would take it from each other, without anyone having decided it.
            if names.isEmpty {
                return .refused(
                    "it was published for another job file; name the job to accept it nevertheless")
            }
            notes = ["it was published for another job file"]
        }
        if let problem = try await problem(of: task, in: job) { return .refused(problem) }
        if let path = state.accept(task, digest) { return .refused("it can't be marked: \(path)") }
        return .accepted(reasons: notes + reasons.lines)
    }

    /// Returns the reason why an existing output isn't one that the plan describes; nil if it is.
    private func problem(of task: OutputTask, in job: JobPlan) async throws -> String? {
        guard task.output.isMedia, let destination = task.output.destination else {
            let isPublished = task.files.allSatisfy { state.isPublished($0) }
            return isPublished
                ? nil
                : "Tandem didn't publish it, or it was changed since; only outputs with tracks may come from another tool"
        }
        do throws(SourceProblem) {
            let file = try prober.description(of: destination)
            if let difference = file.difference(from: task.output) { return difference }
        } catch {
            return "it can't be read: \(error)"
        }
        guard !task.output.expectations.isEmpty else { return nil }
        var order = WorkOrder(
            plan: job.only { $0.id == task.output.id },
            outputs: [try TemporaryFile(published: destination, in: root)], scratch: nil)
        order.task = .evaluate
        switch await performer.perform(order) {
        case .cancelled: return "the evaluation of its expectations was cancelled"
        case .failed(let failure): return failure.message
        case .finished(let findings):
            return findings.outputs.flatMap(\.expectations).first { !$0.holds }?.message
        }
    }
}

extension SourceDescription {
    /// Returns the first difference between a file's tracks and those of an output; nil if there is none.
    func difference(from output: OutputPlan) -> String? {
        guard demuxer == .reading(output.container) else {
            let found = ContainerType.all.first { $0.model.demuxer == demuxer }?.name ?? container
            return "its container is \(found) instead of \(output.container)"
        }
        let types: [MediaType] = [.video, .audio, .subtitle]
        let found = tracks.filter { types.contains($0.mediaType) && !$0.isAttachedPicture }
        guard found.count == output.tracks.count else {
            return "it has \(counted(found.count, "track")) instead of \(output.tracks.count)"
        }
        for (index, (track, planned)) in zip(found, output.tracks).enumerated() {
            guard track.mediaType == planned.source.mediaType else {
                return
                    "its track \(index) is \(track.mediaType.rawValue) instead of \(planned.source.mediaType.rawValue)"
            }
            let codec: String? =
                switch planned.action {
                case .copy, .smartCut: planned.source.codec
                case .encode(let encoding): encoding.writtenCodec
                case .subtitle, .read: nil
                }
            if let codec, track.codec != codec {
                return "its track \(index) is \(track.codec) instead of \(codec)"
            }
            guard let encoder = planned.encoding?.encoder else { continue }
            let size = (encoder.width, encoder.height)
            if track.mediaType == .video, (track.width, track.height) != size {
                return
                    "its track \(index) has \(track.width)x\(track.height) instead of \(size.0)x\(size.1) pixels"
            }
            if let channels = encoder.channelLayout?.channels, let found = track.channelLayout?.channels,
                track.mediaType == .audio, found != channels
            {
                return "its track \(index) has \(counted(found, "channel")) instead of \(channels)"
            }
        }
        let isText = output.tracks.allSatisfy { $0.source.mediaType == .subtitle }
        guard output.media?.sizeLimit == nil, !isText else { return nil }
        let (length, expected) = (duration.seconds, output.expectedDuration.seconds)
        guard abs(length - expected) <= max(1, expected / 50) else {
            return "it lasts \(PlanText.time(duration)) instead of \(PlanText.time(output.expectedDuration))"
        }
        return nil
    }
}

extension Acceptance.Verdict {
    package var isRefused: Bool { if case .refused = outcome { true } else { false } }

    /// Text for the user: a line, followed by the reasons that no longer count.
    package var text: String {
        let lines =
            switch outcome {
            case .accepted(let reasons): ["\(name): accepted"] + reasons.map { "  \($0)" }
            case .current: ["\(name): up to date"]
            case .omitted(let why): ["\(name): \(why)"]
            case .refused(let why): ["\(name): not accepted: \(why)"]
            }
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }
}
