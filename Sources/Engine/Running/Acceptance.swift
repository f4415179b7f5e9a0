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
/// An output is accepted if it exists as a whole, has the tracks that the plan describes, and meets its expectations. Settings
/// of encoders aren't compared: the user decides that they make no difference.
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
        /// The output isn't accepted; the value is the reason.
        case refused(String)
    }

    package init(
        of set: JobFileSet, _ strictness: Pipeline.Strictness, state: StateLocation, workers: WorkerSettings
    ) {
        (self.set, self.strictness, self.state, self.workers) = (set, strictness, state, workers)
    }

    /// Plans the jobs with the given names, all jobs if there are none, and accepts their outputs. Returns the verdicts in the
    /// order of the plan, and the diagnostics of jobs that can't be planned. `waits`: whether to wait for a run that uses the
    /// same state folder.
    /// - Throws: `Pipeline.Rejection` if the job files have errors, and `EngineError` for a state that is in use or can't be
    ///   written, or workers that can't be started.
    package func run(
        only names: [String], from argument: String, waits: Bool
    ) async throws -> (verdicts: [Verdict], diagnostics: DiagnosticSink) {
        let checked = try set.loaded.checked(strictness)
        let locks = try state.lock(set, waits: waits)
        defer { withExtendedLifetime(locks) {} }
        let state = try state.open(set)
        let pool = try workers.pool(in: locks.first?.folder, set.access)
        defer {
            workers.report(pool)
            pool?.close()
        }
        let prober: any SourceProber = pool ?? set.access.prober
        let performer: any WorkPerformer =
            pool ?? LocalPerformer(MediaEnvironment(sources: set.access.sources))
        let planned = try checked.opened(by: prober).planned(
            only: names, from: argument, memory: AcceptingMemory(state))
        let session = Session(
            files: planned.files, names: Set(names.map(\.exact)), state: state, prober: prober,
            performer: performer,
            root: set.access.root)
        var verdicts = try await session.verdicts(planned.plan.jobs)
        for skip in planned.plan.skips where session.isNamed(skip.id, skip.base) {
            verdicts.append(Verdict(name: skip.id, outcome: .refused("the job is skipped: \(skip.reason)")))
        }
        try StateLocation.convertingErrors { () throws(StateError) in try state.save() }
        return (verdicts, planned.diagnostics)
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

    /// Returns the verdicts on the outputs of the named jobs. Other jobs are those that they require.
    func verdicts(_ jobs: [JobPlan]) async throws -> [Acceptance.Verdict] {
        var verdicts: [Acceptance.Verdict] = []
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
                    outcome = try reasons(for: task, of: job).isEmpty ? .current : .refused("")
                }
                if case .refused = outcome, let path = task.output.destination { outdated.insert(path.exact) }
                // A check has no output that could be accepted.
                if isNamed(job.id, job.base), task.output.isPublished || !names.isEmpty {
                    verdicts.append(Acceptance.Verdict(name: task.name, outcome: outcome))
                }
            }
        }
        return verdicts
    }

    /// Returns the plan of a job with the existing outputs of other jobs that it reads.
    private func replanned(_ job: JobPlan) -> JobPlan {
        guard !job.readJobs.isEmpty else { return job }
        return (try? BatchPlanner.replan(job, in: files, prober: prober))?.plan ?? job
    }

    private func reasons(for task: OutputTask, of job: JobPlan) throws(EngineError) -> [String] {
        let reasons = try StateLocation.convertingErrors { () throws(StateError) in
            try state.reasons(for: task, of: job)
        }
        return reasons.lines + [reasons.omission?.reason].compactMap(\.self)
    }

    private func accept(_ task: OutputTask, of job: JobPlan) async throws -> Acceptance.Outcome {
        guard task.output.isPublished else { return .refused("a check has no output") }
        let reasons = try reasons(for: task, of: job)
        if reasons.isEmpty { return .current }
        guard let digest = state.relation(of: task).digest else {
            return .refused("the source can't be read")
        }
        for path in task.output.files {
            guard let status = FileStatus(path: path, followingLinks: false) else {
                return .refused("it doesn't exist: \(path)")
            }
            if status.isLink { return .refused("it is a link: \(path)") }
        }
        if let problem = try await problem(of: task, in: job) { return .refused(problem) }
        if let path = state.accept(task, digest) { return .refused("it can't be marked: \(path)") }
        return .accepted(reasons: reasons)
    }

    /// Returns the reason why an existing output isn't one that the plan describes; nil if it is.
    private func problem(of task: OutputTask, in job: JobPlan) async throws -> String? {
        guard task.output.isMedia, let destination = task.output.destination else { return nil }
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
            guard let encoding = planned.encoding else { continue }
            let codec = EncoderInfo(named: encoding.encoder.encoder)?.codecName ?? encoding.codec
            guard track.codec == codec else {
                return "its track \(index) is \(track.codec) instead of \(codec)"
            }
            let (width, height) = (encoding.encoder.width, encoding.encoder.height)
            if track.mediaType == .video, (track.width, track.height) != (width, height) {
                return
                    "its track \(index) has \(track.width)x\(track.height) instead of \(width)x\(height) pixels"
            }
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
            case .refused(let why): ["\(name): not accepted: \(why)"]
            }
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }
}
