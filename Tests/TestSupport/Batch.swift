import LibAV
import Media
package import Diagnostics
package import JobPlan
package import JobRun
package import JobSpec
internal import Locking
internal import YAMLDocument

/// Decodes a job file given as text, and returns it with its diagnostics.
package func decode(
    _ yaml: String, file: String = "jobs.yaml", directory: String = "/",
    files: any SpecFiles = SystemSpecFiles(), variables: [String: String] = [:], allowsNoJobs: Bool = false
) -> (file: JobFile?, sink: DiagnosticSink) {
    var sink = DiagnosticSink()
    let root = YAMLParser.parse(Array(yaml.utf8), file: file, into: &sink)
    var options = SpecOptions()
    options.files = files
    options.variables = variables
    options.allowsNoJobs = allowsNoJobs
    options.environment = ["HOME_TOWN": "Ulm"]
    let result = JobFileDecoder.decode(root, path: file, directory: directory, options: options, after: sink)
    return (result.file, result.sink)
}

/// Returns diagnostics as text, with excerpts of the job file.
package func rendered(_ sink: DiagnosticSink, _ yaml: String, file: String = "jobs.yaml") -> String {
    TextRenderer(sources: SourceTexts(file, yaml)).render(sink)
}

/// A run observer that records the start and end of jobs.
package final class RecordingObserver: RunObserver {
    private let events = Guarded<[String]>([])
    /// Creates a recorder without events.
    package init() {}
    /// Recorded events, such as `started web`.
    package var recorded: [String] { events.withLock { $0 } }
    /// Records `started` and the job's id.
    package func jobStarted(_ plan: JobPlan) { events.withLock { $0.append("started \(plan.id)") } }
    /// Records `finished` and the job's id.
    package func jobFinished(_ record: JobRecord) {
        events.withLock { $0.append("finished \(record.id)") }
    }
}

/// Limits how many test runs execute at once. Tests start concurrently, and hundreds of runs, each with the threads of
/// its encoders, would need gigabytes.
private actor RunLimit {
    static let shared = RunLimit()
    private static let limit = 4
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func begin() async {
        running += 1
        if running > Self.limit { await withCheckedContinuation { waiting.append($0) } }
    }

    func end() {
        running -= 1
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
}

/// Plans and runs a job file given as text in a folder. Throws the rendered diagnostics if there are errors. With
/// `endlessSpace`, free space isn't checked.
package func run(
    _ yaml: String, in directory: String, limit: Int = 2, keepsFailed: Bool = false,
    endlessSpace: Bool = false,
    observer: any RunObserver = RecordingObserver()
) async throws -> [JobRecord] {
    let (file, sink) = decode(yaml, directory: directory)
    guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
    let result = BatchPlanner.plan([file])
    guard !result.conflicts.hasErrors else { throw ProgramError(message: rendered(result.conflicts, yaml)) }
    var policy = RunPolicy(budget: .ofThisMachine(jobs: limit))
    policy.keepsFailed = keepsFailed
    if endlessSpace { policy.freeSpace = { _ in nil } }
    await RunLimit.shared.begin()
    let records = await BatchRunner(
        plan: result.plan, files: result.files, policy: policy, performer: LocalPerformer(MediaEnvironment()),
        prober: LocalProber(),
        observer: observer
    ).run()
    await RunLimit.shared.end()
    return records
}

/// Returns the result of a job, by default the first one. Throws if the job didn't succeed.
package func success(_ outcomes: [JobRecord], _ id: String? = nil) throws -> JobResult {
    guard let found = outcomes.first(where: { id == nil || $0.id == id }) else {
        throw ProgramError(message: "no such job")
    }
    switch found.outcome {
    case .succeeded(let result): return result
    case .failed(let failure):
        throw ProgramError(message: "\(found.id): \(failure.location): \(failure.message)")
    default: throw ProgramError(message: "\(found.id): \(found.outcome)")
    }
}
