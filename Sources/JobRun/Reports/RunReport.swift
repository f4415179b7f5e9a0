internal import ExactStrings
package import FoundationEssentials
internal import Glibc
package import JobPlan
package import Diagnostics
package import JobSpec
package import LibAV
package import Media
internal import FileSystem
internal import Publishing
package import Streaming

/// The report of a whole run, from which `report.json`, the JUnit and the HTML report are written. Fields are only
/// added, never removed or renamed.
package struct RunReport: Codable, Sendable {
    /// Version of the report format.
    package var version = 1
    /// Program name and version.
    package var program = "tandem \(ProgramVersion.current)"
    package var libraries: [MetadataEntry] = LibraryVersions.all
    /// Paths of the job files.
    package var files: [String]
    /// Start of the run, in seconds since 1970.
    package var begun: Double
    /// Duration of the run in seconds.
    package var seconds: Double
    package var status: Status
    /// SHA-256 of the shard of the plan that was executed; nil for unsharded runs.
    package var part: String?
    /// Entries of the run's jobs: failures first, then in the order in which the jobs ended. A successful job with
    /// several outputs has an entry for each output.
    package var jobs: [Job]

    /// The entry of a job, or of one of its outputs.
    package struct Job: Codable, Sendable {
        /// The job's id, or `<job>/<output>` for one of several outputs, such as `web/hd`.
        package var id: String
        /// Path of the job file.
        package var file: String
        /// Line of the job in its file; 0 if unknown.
        package var line: Int
        package var outcome: Outcome
        /// Whether the entry is a problem because of which the run ended before its first job; `id` is its name. nil for
        /// entries of jobs.
        package var problem: Bool?
        /// Job at the location of a problem.
        package var job: String?
        /// Reason why the job failed, was skipped or was not run.
        package var reason: String?
        /// Rule of a failure, such as `expectation-failed`.
        package var rule: String?
        /// Location in the job file that a failure concerns, such as `jobs.yaml:3:5`.
        package var location: String?
        /// Seconds from the start of the run to the start of the job; nil if the job was not started.
        package var begun: Double?
        /// Wall-clock duration of the job in seconds.
        package var seconds: Double
        /// Slot of the job, from 0: concurrent jobs have different slots. Row of the job in the report's timeline.
        package var slot: Int
        /// Number of attempts, including the first; 0 if the job was not started.
        package var attempts: Int
        /// Path or description of the source.
        package var source: String?
        /// Absolute path of the output.
        package var destination: String?
        /// `check` for the check of a source, which has no output; nil for outputs.
        package fileprivate(set) var kind: Kind?
        /// `TemporaryFile.fingerprint` of the published output; for a check, the digest of its plan.
        package var output: String?
        /// Size of the output in bytes.
        package var size: Int64?
        /// Duration of the output in seconds.
        package var duration: Double?
        /// Whether the output was taken from a cache when it was published; nil if it was created.
        package var cached: Bool?
        /// Still images of an image output; nil for other outputs.
        package fileprivate(set) var images: [StillImage]?
        /// Encodes of an output with `target_size`, in order; nil for other outputs.
        package var encodes: [Encode]?
        /// Search of `crf` for `quality` of video; nil without it.
        package var quality: OutputResult.Quality?
        /// Manifests and renditions of a package; nil for other outputs.
        package fileprivate(set) var package: PackageSummary?
        /// Size of the frames of the encoded video; nil without one.
        package var frameSize: PixelSize?
        /// Clips, layers and audio items on the time line of a composition; nil for other sources.
        package var timeline: [TimelineSection]?
        package var tracks: [Track] = []
        /// Ledger of the source: each item kept, changed or dropped, with the reason.
        package var ledger: [LedgerEntry] = []
        /// Expectations of the job file, each with its measured value.
        package var expectations: [ExpectationEntry] = []
        /// Warnings about the output, or about all outputs of the job.
        package var warnings: [String] = []
    }

    /// An encode of an output with `target_size`.
    package struct Encode: Codable, Hashable, Sendable {
        /// Bit rate of the video track, in bits per second.
        package var rate: Int64
        /// Size of the file in bytes.
        package var size: Int64
    }

    package struct StillImage: Codable, Hashable, Sendable {
        /// Requested time, in seconds on the source's time line.
        package var requested: Double
        /// Presentation time of the frame, in seconds on the source's time line.
        package var actual: Double
        /// Absolute path of the image file; nil if one file contains all images.
        package var file: String?
    }

    /// A track of an output.
    package struct Track: Codable, Sendable {
        /// Description of the source track, such as `video h264 1280x720`.
        package var source: String
        /// Planned action: `copied`, `smart cut`, or an encoder such as `libx264`.
        package var action: String
        /// Encoder settings with their origins.
        package var settings: [TrackPlan.Setting]
        /// Number of frames, samples or packets.
        package var samples: Int?
    }

    package struct ExpectationEntry: Codable, Sendable {
        package var expected: String
        package var measured: String
        package var holds: Bool
        /// Location of the expectation in the job file.
        package var location: String
        /// Measured similarity to the source; nil for other expectations.
        package var similarity: MeasuredSimilarity? = nil
    }

    /// Creates the report of a run from its records.
    package init(_ records: [JobRecord], files: [String], begun: Double, seconds: Double, status: Status) {
        self.files = files
        self.begun = begun
        self.seconds = seconds
        self.status = status
        let jobs = records.flatMap(Self.entries)
        self.jobs = jobs.filter { $0.outcome == .failed } + jobs.filter { $0.outcome != .failed }
    }

    /// Creates the report of a run that ended before its first job started, with a failed entry for each error. `jobs`
    /// are the job files, used to find the job at an error's location.
    package init(
        problems: [Diagnostic], in jobs: [JobFile] = [], files: [String], begun: Double, seconds: Double,
        status: Status
    ) {
        self.init([], files: files, begun: begun, seconds: seconds, status: status)
        var names: [String: Int] = [:]
        let locations = jobs.map(JobLocations.init)
        func owner(_ location: SourceRange, _ instances: [String]?) -> String? {
            if let instances, instances.count == 1 { return instances[0] }
            return locations.lazy.compactMap { $0.job(at: location) }.first
        }
        self.jobs = problems.filter { $0.severity == .error }.prefix(1000).map { problem in
            let location = problem.range
            let name = "\(problem.rule.rawValue)[\(location.line):\(location.column)]"
            names[name, default: 0] += 1
            let number = names[name, default: 1]
            var job = Job(
                id: number > 1 ? "\(name)[\(number)]" : name, file: location.file, line: location.line,
                outcome: .failed, seconds: 0, slot: 0, attempts: 0)
            job.problem = true
            job.reason = problem.message
            job.rule = problem.rule.rawValue
            job.location = "\(location)"
            job.job = owner(location, problem.jobs)
            return job
        }
        guard self.jobs.isEmpty else { return }
        var run = Job(
            id: "run", file: files.first ?? "", line: 0,
            outcome: status == .interrupted ? .cancelled : .failed, seconds: seconds, slot: 0, attempts: 0)
        run.reason = "the run ended before its first job started"
        self.jobs = [run]
    }

    /// Returns the entries of a job that has ended: one for each of several outputs if the job was successful,
    /// otherwise one.
    private static func entries(_ record: JobRecord) -> [Job] {
        var template = Job(
            id: record.id, file: record.file, line: record.plan?.location.line ?? 0,
            outcome: .init(record.outcome),
            begun: record.begun, seconds: record.seconds, slot: record.slot, attempts: record.attempts)
        template.source = record.plan?.sourceName
        if record.plan?.outputs.first?.isPublished == false { template.detail = .check }
        var results: [OutputResult] = []
        switch record.outcome {
        case .succeeded(let result): results = result.outputs
        case .failed(let failure):
            template.reason = failure.message
            template.rule = (failure.rule ?? .jobFailed).rawValue
            template.location = "\(failure.location)"
            template.line = template.line == 0 ? failure.location.line : template.line
            template.expectations = failure.expectations.map(expected)
        case .skipped(let why), .declined(let why), .notRun(let why): template.reason = why
        case .upToDate, .cancelled: break
        }
        guard let plan = record.plan else { return upToDateEntries(record, template) }
        // A failed job is reported once, not once for each output.
        if !record.outcome.isSuccess, plan.outputs.count > 1 {
            template.warnings = record.warnings
            return [template]
        }
        return plan.tasks.map { task in
            let result = results.first { $0.id == task.output.id }
            return entry(of: task, result, in: template, record)
        }
    }

    /// Returns the entries of a job without a plan: it was up to date before planning, or was never planned.
    private static func upToDateEntries(_ record: JobRecord, _ template: Job) -> [Job] {
        var template = template
        template.warnings = record.warnings
        if let first = record.upToDateOutputs.first, first.destination == nil { template.detail = .check }
        guard record.upToDateOutputs.count > 1 else { return [template] }
        return record.upToDateOutputs.map { output in
            var job = template
            job.id = OutputName(job: record.id, output: output.id).description
            job.warnings = record.earlierWarnings[output.id ?? ""] ?? []
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
            job.outcome = job.reason == nil ? .upToDate : .skipped
        }
        job.warnings = (result?.warnings ?? []) + (record.earlierWarnings[task.output.id ?? ""] ?? [])
        if let result {
            job.size = result.destination == nil ? nil : result.size
            job.duration = result.duration.seconds
            job.output = result.output
            job.cached = result.isFromCache ? true : nil
            switch result.detail {
            case .plain: break
            case .images(let images):
                job.detail = .images(
                    images.map {
                        StillImage(
                            requested: $0.requested.seconds, actual: $0.actual.seconds, file: $0.path)
                    })
            case .package(let summary): job.detail = .package(summary)
            }
            let encodes = result.sizeAttempts.map { Encode(rate: $0.bitRate, size: $0.size) }
            job.encodes = encodes.isEmpty ? nil : encodes
            job.quality = result.quality
            job.expectations = result.expectations.map(expected)
        } else if record.outcome.isSuccess, job.outcome != .declined {
            job.output = task.output.destination.flatMap { TemporaryFile.fingerprint(path: $0) }
        }
        job.destination = task.output.destination
        job.ledger = task.output.ledger
        let timeline = task.timeline
        job.timeline = timeline.isEmpty ? nil : timeline
        let samples = result?.tracks.map(\.appendedSamples) ?? []
        job.frameSize = task.output.tracks.lazy.compactMap(\.encoding).first { $0.video != nil }.map {
            PixelSize(width: $0.encoder.width, height: $0.encoder.height)
        }
        let names = task.output.fileNames
        job.tracks = task.output.allTracks.enumerated().map { index, track in
            let (action, settings) = describe(track.action)
            return Track(
                source: TextRenderer.printable(track.sourceText(names)), action: action, settings: settings,
                samples: samples.indices.contains(index) ? samples[index] : nil)
        }
        return job
    }

    private static func expected(_ result: ExpectationResult) -> ExpectationEntry {
        ExpectationEntry(
            expected: result.expectation.check.text, measured: result.measured, holds: result.holds,
            location: "\(result.expectation.location)",
            similarity: result.similarity.flatMap { $0.isValid ? $0 : nil })
    }

    private static func describe(_ action: TrackPlan.Action) -> (String, [TrackPlan.Setting]) {
        switch action {
        case .copy: ("copied", [])
        case .smartCut: ("smart cut", [])
        case .subtitle(let codec): (codec.rawValue, [])
        case .encode(let encoding): (encoding.encoder.encoder, encoding.settings)
        case .read(let decodes): (decodes ? "decoded" : "packets read", [])
        }
    }

    /// Encodes the report as JSON in the canonical format; with `isLine`, in one line.
    package func json(isLine: Bool = false) throws -> Data {
        try JSONFormat.data(of: self, isLine: isLine)
    }
}

extension RunReport {
    /// Creates a report from existing entries, incomplete jobs first.
    init(jobs: [Job], files: [String], begun: Double, seconds: Double, status: Status) {
        self.files = files
        self.begun = begun
        self.seconds = seconds
        self.status = status
        self.jobs = jobs.filter { !$0.isDone } + jobs.filter(\.isDone)
    }
}

extension RunReport.Job {
    /// The key of the output that the entry is about; that of the job, if the job has one output or didn't succeed.
    var key: OutputKey { OutputKey(file: file, id: id) }

    /// Creates the entry of a job that could not be planned.
    init(refused refusal: BatchPlan.Refusal) {
        let error = refusal.diagnostics.first { $0.severity == .error }
        self.init(
            id: refusal.id, file: refusal.file, line: error?.range.line ?? 0, outcome: .failed,
            seconds: 0, slot: 0, attempts: 0)
        reason = error?.message ?? "the job can't be planned"
        rule = (error?.rule ?? .jobFailed).rawValue
        location = error.map { "\($0.range)" }
    }

    /// Creates the entry of a job whose condition doesn't hold.
    init(skipped skip: BatchPlan.Skip) {
        self.init(
            id: skip.id, file: skip.file, line: skip.location.line, outcome: .skipped, seconds: 0, slot: 0,
            attempts: 0)
        reason = skip.reason
    }

    /// Creates the entry of an output that was not created.
    init(missing task: OutputTask, reason: String) {
        self.init(
            id: task.name, file: task.file, line: task.output.location.line, outcome: .notRun,
            reason: reason, begun: nil, seconds: 0, slot: 0, attempts: 0, source: task.input.sourceName,
            destination: task.output.destination)
        if !task.output.isPublished { detail = .check }
    }
}

extension RunReport.Job {
    /// The part of an entry that only some kinds of output have.
    package enum Detail: Sendable {
        /// A file, or an output without details of its kind.
        case file
        /// The check of a source, which has no output.
        case check
        /// Still images, in order.
        case images([RunReport.StillImage])
        /// Manifests and renditions of a package.
        case package(PackageSummary)
    }

    /// The part of the entry that only some kinds of output have. It is stored in fields of its own.
    package var detail: Detail {
        get {
            if kind == .check { return .check }
            if let images { return .images(images) }
            return package.map(Detail.package) ?? .file
        }
        set {
            (kind, images, package) = (nil, nil, nil)
            switch newValue {
            case .file: break
            case .check: kind = .check
            case .images(let images): self.images = images
            case .package(let summary): package = summary
            }
        }
    }

    /// Whether the entry is that of a check.
    var isCheck: Bool { if case .check = detail { true } else { false } }
}
