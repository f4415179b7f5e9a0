internal import Diagnostics
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import Locking
internal import JobSpec

/// A writer of a run's events as JSON lines: `run_started`, `job_planned`, `job_started`, `progress`, `job_finished`,
/// `run_finished`. Every `job_finished` follows the `job_planned` of its job. Fields are only added, never removed or
/// renamed.
///
/// Unchecked `Sendable`: mutable state is accessed on `queue` only.
package final class EventWriter: RunObserver, @unchecked Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "tandem.events")
    private var timer: (any DispatchSourceTimer)?
    private var lastRunning: [Event.Running] = []
    private let problem = Guarded<String?>(nil)
    private let begun = DispatchTime.now()

    private struct Event: Encodable {
        var event: String
        var version = 1
        /// Seconds since 1970.
        var time: Double
        var files: [String]?
        var jobs: Int?
        var job: String?
        var file: String?
        var line: Int?
        var source: String?
        var destination: String?
        var outputs: [Output]?
        var outcome: RunReport.Job.Outcome?
        var reason: String?
        var rule: String?
        var location: String?
        var attempts: Int?
        var seconds: Double?
        var size: Int64?
        var duration: Double?
        var cached: Bool?
        var images: [RunReport.StillImage]?
        var encodes: [RunReport.Encode]?
        var quality: OutputResult.Quality?
        var expectations: [RunReport.ExpectationEntry]?
        var warnings: [String]?
        var running: [Running]?
        var finished: Int?
        var total: Int?
        var remaining: Double?
        var status: RunReport.Status?
        var outcomes: [String: Int]?

        /// One output of a job with several outputs.
        struct Output: Encodable {
            var id: String
            var destination: String?
            var outcome: RunReport.Job.Outcome?
            var size: Int64?
            var duration: Double?
            var cached: Bool?
            var images: [RunReport.StillImage]?
            var encodes: [RunReport.Encode]?
            var quality: OutputResult.Quality?
        }

        struct Running: Encodable, Equatable {
            var job: String
            var file: String
            var fraction: Double
            var media: Double
            var speed: Double
        }
    }

    /// Opens the file for the events; `-` is standard output. `appends`: whether the file keeps its events. Returns nil if
    /// it can't be opened for writing.
    package init?(path: String, appends: Bool = false) {
        descriptor =
            path == "-" ? dup(STDOUT_FILENO) : Self.open(path, appends: appends)
        if descriptor < 0 { return nil }
    }

    /// Opens an existing report, pipe or device (`ReportFile.problem`), or creates a missing file. Doesn't follow
    /// dangling links.
    private static func open(_ path: String, appends: Bool) -> Int32 {
        let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let known = Glibc.open(path, flags | (appends ? O_APPEND : O_TRUNC))
        if known >= 0 || errno != ENOENT { return known }
        return Glibc.open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
    }

    deinit { close(descriptor) }

    /// Writes the start of the run and its planned jobs, and starts the progress timer.
    package func begin(_ plan: BatchPlan, files: [String], runner: BatchRunner) {
        var event = Event(event: "run_started", time: Self.now)
        event.files = files
        event.jobs = plan.jobs.count + plan.upToDateJobs.count + plan.skips.count + plan.refusals.count
        write(event)
        func announce(
            _ id: String, _ file: String, _ line: Int?, _ source: String?, _ outputs: [BatchPlan.Output]
        ) {
            var event = Event(event: "job_planned", time: Self.now)
            (event.job, event.file, event.line) = (id, file, line)
            (event.source, event.destination) = (source, outputs.count == 1 ? outputs[0].destination : nil)
            event.outputs =
                outputs.isEmpty || outputs[0].id == nil
                ? nil
                : outputs.map {
                    Event.Output(
                        id: OutputName(job: id, output: $0.id).description, destination: $0.destination)
                }
            write(event)
        }
        for job in plan.upToDateJobs { announce(job.id, job.file, nil, nil, job.outputs) }
        for skip in plan.skips { announce(skip.id, skip.file, skip.location.line, nil, []) }
        for refusal in plan.refusals {
            announce(refusal.id, refusal.file, refusal.diagnostics.first?.range.line, nil, [])
        }
        for job in plan.jobs {
            announce(
                job.id, job.file, job.location.line, job.sourceName,
                job.outputs.map(BatchPlan.Output.init))
        }
        queue.sync {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
            timer.setEventHandler { @Sendable [weak self] in self?.writeProgress(runner.snapshot()) }
            timer.activate()
            self.timer = timer
        }
    }

    package func jobStarted(_ plan: JobPlan) {
        var event = Event(event: "job_started", time: Self.now)
        (event.job, event.file) = (plan.id, plan.file)
        write(event)
    }

    package func jobFinished(_ record: JobRecord) {
        let entries = RunReport([record], files: [], begun: 0, seconds: 0, status: .succeeded).jobs
        guard let job = entries.first else { return }
        var event = Event(event: "job_finished", time: Self.now)
        (event.job, event.file, event.outcome) = (record.id, job.file, .init(record.outcome))
        event.reason = job.reason
        (event.rule, event.location, event.attempts, event.seconds) = (
            job.rule, job.location, job.attempts, job.seconds
        )
        if entries.count == 1, job.id == record.id {
            (event.destination, event.size, event.duration) = (job.destination, job.size, job.duration)
            (event.images, event.encodes, event.quality) = (job.images, job.encodes, job.quality)
            event.cached = job.cached
        } else {
            event.outputs = entries.map {
                Event.Output(
                    id: $0.id, destination: $0.destination, outcome: $0.outcome, size: $0.size,
                    duration: $0.duration, cached: $0.cached, images: $0.images, encodes: $0.encodes,
                    quality: $0.quality)
            }
        }
        let expectations = entries.flatMap(\.expectations)
        event.expectations = expectations.isEmpty ? nil : expectations
        event.warnings = record.warnings.isEmpty ? nil : record.warnings
        write(event)
    }

    /// Writes `run_finished`. Returns the reason why events could not be written; nil if all were.
    package func end(_ records: [JobRecord], status: RunReport.Status) -> String? {
        queue.sync {
            timer?.cancel()
            timer = nil
        }
        var event = Event(event: "run_finished", time: Self.now)
        event.status = status
        event.seconds = Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
        event.outcomes = Dictionary(
            records.map { (RunReport.Job.Outcome($0.outcome).rawValue, 1) }, uniquingKeysWith: +)
        write(event)
        queue.sync {}
        return problem.withLock { $0 }
    }

    /// Writes the events of a run that ended before its first job started.
    package func writeEvents(_ report: RunReport) {
        var event = Event(event: "run_started", time: Self.now)
        (event.files, event.jobs) = (report.files, 0)
        write(event)
        event = Event(event: "run_finished", time: Self.now)
        (event.status, event.seconds, event.outcomes) = (report.status, report.seconds, [:])
        event.reason = report.jobs.first?.reason
        write(event)
        queue.sync {}
    }

    private func writeProgress(
        _ state: (running: [RunningJob], finished: Int, total: Int, remaining: Double?)
    ) {
        let running = state.running.map {
            Event.Running(
                job: $0.id, file: $0.file, fraction: $0.fraction, media: $0.media, speed: $0.speed)
        }
        guard running != lastRunning else { return }
        lastRunning = running
        var event = Event(event: "progress", time: Self.now)
        (event.running, event.finished, event.total, event.remaining) = (
            running, state.finished, state.total, state.remaining
        )
        writeLine(event)
    }

    private func write(_ event: Event) { queue.async { @Sendable in self.writeLine(event) } }

    /// Writes an event as one line. Called on `queue`.
    private func writeLine(_ event: Event) {
        guard problem.withLock({ $0 == nil }) else { return }
        guard var line = try? JSONFormat.data(of: event, isLine: true) else { return }
        line.append(0x0a)
        var done = 0
        while done < line.count {
            // A reader that doesn't read must not block the run. The write continues once the pipe has space, or fails
            // after 5 s.
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&waiting, 1, 5000) != 0 else {
                return problem.withLock { $0 = "no process reads them" }
            }
            let put = line.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, min(4096, line.count - done))
            }
            if put > 0 {
                done += put
            } else if errno != EINTR, errno != EAGAIN {
                let reason = String(cString: strerror(errno))
                return problem.withLock { $0 = reason }
            }
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return (Double(time.tv_sec) * 1000 + Double(time.tv_nsec / 1_000_000)) / 1000
    }
}
