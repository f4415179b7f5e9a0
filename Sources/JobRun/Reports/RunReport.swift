internal import ExactStrings
package import FoundationEssentials
internal import Glibc
package import JobPlan
package import Diagnostics
package import JobSpec
package import LibAV
internal import Media
internal import FileSystem
internal import Publishing

/// What became of a run, whole: a value from which `report.json`, JUnit and the HTML report are written.
/// Fields are only ever added.
package struct RunReport: Codable, Sendable {
    /// The version of its form.
    package var version = 1
    /// The program and its version.
    package var program = "tandem \(ProgramVersion.current)"
    /// FFmpeg's libraries.
    package var libraries: [MetadataEntry] = LibraryVersions.all
    /// The job files.
    package var files: [String]
    /// When the run began, seconds since 1970.
    package var begun: Double
    /// How long it took, in seconds.
    package var seconds: Double
    /// `succeeded`, `failed` or `interrupted`.
    package var status: String
    /// The part of a sharded plan that was carried out, as SHA-256 of its file; nil of other runs.
    package var part: String?
    /// Its jobs: failures first, then in the order they ended. Of a job with several outputs that has succeeded, each output
    /// by itself.
    package var jobs: [Job]

    /// One job of it, or one output of a job.
    package struct Job: Codable, Sendable {
        /// Its id; the job's and the output's, as `web/hd`, where it is one of several outputs.
        package var id: String
        /// Its file.
        package var file: String
        /// Its line there; 0 where it is not known.
        package var line: Int
        /// `succeeded`, `up-to-date`, `skipped`, `failed`, `cancelled` or `not-run`.
        package var outcome: String
        /// The job that a problem concerns, where the run ended before its first job: `id` is the problem's name then.
        package var job: String?
        /// Why it failed, was skipped or not run.
        package var reason: String?
        /// The rule that a failure goes by.
        package var rule: String?
        /// What of the job file asked for what failed: `jobs.yaml:3:5`.
        package var place: String?
        /// Seconds from the run's begin to its own.
        package var begun: Double?
        /// How long it took, in seconds.
        package var seconds: Double
        /// Which of the places that run side by side it had.
        package var lane: Int
        /// How often it was begun.
        package var attempts: Int
        /// What it read.
        package var source: String?
        /// Where its output is.
        package var destination: String?
        /// Size and time of the output as it was published, as one word.
        package var output: String?
        /// Bytes of the output.
        package var size: Int64?
        /// How long the output lasts, in seconds.
        package var duration: Double?
        /// The output's stills; nil of a movie.
        package var stills: [Still]?
        /// What stands on the time line of a composition; nil of other sources.
        package var timeline: [TimelineStretch]?
        /// The output's tracks.
        package var tracks: [Track] = []
        /// What became of everything in the source.
        package var ledger: [LedgerEntry] = []
        /// What was expected and measured.
        package var expectations: [Expected] = []
        /// Things that a person should know.
        package var warnings: [String] = []
    }

    /// A still.
    package struct Still: Codable, Hashable, Sendable {
        /// The time that was asked for, in seconds on the source's time line.
        package var requested: Double
        /// When its frame comes on screen, in seconds on the source's.
        package var actual: Double
        /// The absolute path of its file; nil where all are one.
        package var file: String?
    }

    /// One track of an output.
    package struct Track: Codable, Sendable {
        /// What it is: `video h264 1280x720`.
        package var source: String
        /// What was done: `copied`, `libx264`, …
        package var action: String
        /// The settings with where each came from.
        package var settings: [TrackPlan.Setting]
        /// Frames, samples or packets.
        package var samples: Int?
    }

    /// An expectation beside what was measured.
    package struct Expected: Codable, Sendable {
        /// What must hold.
        package var expected: String
        /// What was found.
        package var measured: String
        /// It holds.
        package var holds: Bool
        /// Where it was written.
        package var place: String
    }

    /// Of a run's records.
    package init(_ records: [JobRecord], files: [String], begun: Double, seconds: Double, status: String) {
        self.files = files
        self.begun = begun
        self.seconds = seconds
        self.status = status
        let jobs = records.flatMap(Self.entries)
        self.jobs = jobs.filter { $0.outcome == "failed" } + jobs.filter { $0.outcome != "failed" }
    }

    /// Of a run that ended before its first job began: what stood against it, each as something that failed.
    /// `jobs` names the job that a place belongs to.
    package init(
        problems: [Diagnostic], in jobs: [JobFile] = [], files: [String], begun: Double, seconds: Double,
        status: String
    ) {
        self.init([], files: files, begun: begun, seconds: seconds, status: status)
        var names: [String: Int] = [:]
        let places = jobs.map(JobPlaces.init)
        func owner(_ place: SourceRange, _ instances: [String]?) -> String? {
            if let instances, instances.count == 1 { return instances[0] }
            return places.lazy.compactMap { $0.job(at: place) }.first
        }
        self.jobs = problems.filter { $0.severity == .error }.prefix(1000).map { problem in
            let place = problem.range
            let name = "\(problem.rule.rawValue)[\(place.line):\(place.column)]"
            names[name, default: 0] += 1
            let number = names[name, default: 1]
            var job = Job(
                id: number > 1 ? "\(name)[\(number)]" : name, file: place.file, line: place.line,
                outcome: "failed", seconds: 0, lane: 0, attempts: 0)
            job.reason = problem.message
            job.rule = problem.rule.rawValue
            job.place = "\(place)"
            job.job = owner(place, problem.jobs)
            return job
        }
        guard self.jobs.isEmpty else { return }
        var run = Job(
            id: "run", file: files.first ?? "", line: 0,
            outcome: status == "interrupted" ? "cancelled" : "failed", seconds: seconds, lane: 0, attempts: 0)
        run.reason = "the run ended before its first job began"
        self.jobs = [run]
    }

    /// A job as it ended: one entry, or one for each of several outputs that are there.
    private static func entries(_ record: JobRecord) -> [Job] {
        var whole = Job(
            id: record.id, file: record.file, line: record.plan?.location.line ?? 0,
            outcome: record.outcome.word,
            begun: record.begun, seconds: record.seconds, lane: record.lane, attempts: record.attempts)
        whole.source = record.plan?.sourceName
        var made: [OutputResult] = []
        switch record.outcome {
        case .succeeded(let result): made = result.outputs
        case .failed(let failure):
            whole.reason = failure.message
            whole.rule = (failure.rule ?? .jobFailed).rawValue
            whole.place = "\(failure.location)"
            whole.line = whole.line == 0 ? failure.location.line : whole.line
            whole.expectations = failure.expectations.map(expected)
        case .skipped(let why), .notRun(let why): whole.reason = why
        case .upToDate, .cancelled: break
        }
        guard let plan = record.plan else { return settled(record, whole) }
        // What became of a job that made nothing is said once.
        if !record.outcome.isSuccess, plan.outputs.count > 1 {
            whole.warnings = record.warnings
            return [whole]
        }
        return plan.tasks.map { task in
            let result = made.first { $0.id == task.output.id }
            return entry(of: task, result, in: whole, record)
        }
    }

    /// A job that was settled before it was planned, or that never was.
    private static func settled(_ record: JobRecord, _ whole: Job) -> [Job] {
        var whole = whole
        whole.warnings = record.warnings
        guard record.settled.count > 1 else { return [whole] }
        return record.settled.map { output in
            var job = whole
            job.id = OutputTask.name(job: record.id, output: output.id)
            job.warnings = record.kept[output.id ?? ""] ?? []
            job.destination = output.destination
            return job
        }
    }

    private static func entry(
        of task: OutputTask, _ result: OutputResult?, in whole: Job, _ record: JobRecord
    ) -> Job {
        var job = whole
        job.id = task.name
        if case .succeeded(let whole) = record.outcome, result == nil {
            job.reason = whole.skipped[task.output.id ?? ""]
            job.outcome = job.reason == nil ? JobOutcome.upToDate.word : "skipped"
        }
        job.warnings = (result?.warnings ?? []) + (record.kept[task.output.id ?? ""] ?? [])
        if let result {
            job.size = result.size
            job.duration = result.duration.seconds
            job.output = result.output
            if task.output.images != nil {
                job.stills = result.stills.map {
                    Still(requested: $0.requested.seconds, actual: $0.actual.seconds, file: $0.path)
                }
            }
            job.expectations = result.expectations.map(expected)
        } else if record.outcome.isSuccess {
            job.output = TemporaryFile.fingerprint(path: task.output.destination)
        }
        job.destination = task.output.destination
        job.ledger = task.output.ledger
        let timeline = task.timeline
        job.timeline = timeline.isEmpty ? nil : timeline
        let samples = result?.tracks.map(\.appendedSamples) ?? []
        job.tracks = task.output.tracks.enumerated().map { index, track in
            let (action, settings) = describe(track.action)
            return Track(
                source: LedgerText.name(track.source), action: action, settings: settings,
                samples: samples.indices.contains(index) ? samples[index] : nil)
        }
        return job
    }

    private static func expected(_ judged: JudgedExpectation) -> Expected {
        Expected(
            expected: judged.expectation.check.text, measured: judged.measured, holds: judged.holds,
            place: "\(judged.expectation.location)")
    }

    private static func describe(_ action: TrackPlan.Action) -> (String, [TrackPlan.Setting]) {
        switch action {
        case .copy: ("copied", [])
        case .smartCut: ("copied but for the edges", [])
        case .subtitle(let codec): (codec.rawValue, [])
        case .encode(let encoding): (encoding.encoder.encoder, encoding.settings)
        }
    }

    /// As JSON, stable from run to run.
    package func json() throws -> Data {
        try JSONForm.data(of: self)
    }
}

extension RunReport {
    /// Of jobs that are known already.
    init(jobs: [Job], files: [String], begun: Double, seconds: Double, status: String) {
        self.files = files
        self.begun = begun
        self.seconds = seconds
        self.status = status
        self.jobs = jobs.filter { !$0.isDone } + jobs.filter(\.isDone)
    }
}

extension RunReport.Job {
    /// Its output is published and up to date.
    package var isDone: Bool { ["succeeded", "up-to-date", "skipped"].contains(outcome) }

    /// What another process wrote is possible.
    var isSound: Bool {
        let words = ["succeeded", "up-to-date", "skipped", "failed", "cancelled", "not-run"]
        let numbers = [begun ?? 0, seconds, duration ?? 0]
        return words.contains(outcome) && (0..<4096).contains(lane) && (0..<1000).contains(attempts)
            && line >= 0
            && numbers.allSatisfy { (0...1e9).contains($0) } && (0...(1 << 50)).contains(size ?? 0)
            && (timeline ?? []).count <= TimelineStretch.most
            && (timeline ?? []).allSatisfy {
                $0.start >= 0 && $0.start <= $0.end && $0.end <= 1e9 && (0..<1 << 20).contains($0.index)
            }
    }

    /// Its output is as it was left.
    func stands(beneath root: PathRoot) -> Bool {
        guard let destination, let output, root.holds(destination) else { return false }
        return TemporaryFile.fingerprint(path: destination) == output
    }

    /// Why this entry, of an output that it reports as done, can't be believed; nil where plan and files confirm it.
    ///
    /// The entry must name the plan's output. Every file of the output must be there, beneath `root`, with the mark of this
    /// output where the file system keeps marks, and with the size and time that the entry reports.
    func fault(against task: OutputTask, beneath root: PathRoot) -> String? {
        guard destination?.exact == task.output.destination.exact else {
            return "its result names another output: \(destination ?? "none")"
        }
        let isSkipped = outcome == JobOutcome.skipped("").word
        if isSkipped, task.output.ifExists != .skip {
            return "its result is `skipped`, which only `if_exists: skip` allows"
        }
        var total: Int64 = 0
        for file in task.files {
            let path = file.output.destination
            guard root.holds(path) else { return "its output lies outside the root: \(path)" }
            var status = stat()
            guard lstat(path, &status) == 0 else {
                // Of somebody else's files one is enough for `skip`.
                if isSkipped, file.part > 0 { continue }
                return "its output is gone or changed: \(path) doesn't exist"
            }
            if isSkipped { continue }
            guard status.st_mode & S_IFMT == S_IFREG else {
                return "its output is gone or changed: \(path) is no regular file"
            }
            if let fault = Self.markFault(of: file, at: path) { return fault }
            total = total.addingReportingOverflow(Int64(status.st_size)).partialValue
        }
        guard let output, TemporaryFile.fingerprint(path: task.output.destination) == output else {
            return "its output is gone or changed"
        }
        if let size, !isSkipped, size != total {
            return "its output has \(total) bytes, and \(size) by its result"
        }
        return nil
    }

    /// Why the mark of a file is not that of the output; nil where it is, or where the file system keeps none.
    private static func markFault(of task: OutputTask, at path: String) -> String? {
        guard let mark = RunState.mark(of: task) else {
            // What doesn't fit into an attribute isn't there on any file system.
            let fits = task.name.utf8.count < 1024
            return fits && TemporaryFile.takesAttributes(path)
                ? "its output is gone or changed: \(path) doesn't have its mark" : nil
        }
        if mark.job.exact == task.name.exact,
            mark.owner == RunState.owner(task.file, at: task.output.destination)
        {
            return nil
        }
        // Made by another job, or under another id, in just the same way: up to date for this one as well.
        if let digest = try? PlanDigest(task), digest.standing(of: mark.digest) != .other { return nil }
        return "its output was published by another job: \(path)"
    }

    /// An output of which nothing came.
    /// A job that couldn't be planned.
    init(refused refusal: BatchPlan.Refusal) {
        let error = refusal.diagnostics.first { $0.severity == .error }
        self.init(
            id: refusal.id, file: refusal.file, line: error?.range.line ?? 0, outcome: "failed",
            seconds: 0, lane: 0, attempts: 0)
        reason = error?.message ?? "it can't be planned"
        rule = (error?.rule ?? .jobFailed).rawValue
        place = error.map { "\($0.range)" }
    }

    init(missing task: OutputTask, reason: String) {
        self.init(
            id: task.name, file: task.file, line: task.output.location.line, outcome: "not-run",
            reason: reason, begun: nil, seconds: 0, lane: 0, attempts: 0, source: task.input.sourceName,
            destination: task.output.destination)
    }
}

extension JobOutcome {
    /// One word for programs.
    package var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .upToDate: "up-to-date"
        case .skipped: "skipped"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .notRun: "not-run"
        }
    }
}
