import LibAV
import Media
package import Diagnostics
package import JobPlan
package import JobRun
package import JobSpec
internal import Locking
internal import YAMLDocument

/// A job file decoded from text, with what was said of it.
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

/// Messages rendered for people, with excerpts.
package func rendered(_ sink: DiagnosticSink, _ yaml: String, file: String = "jobs.yaml") -> String {
    TextRenderer(sources: SourceTexts(file, yaml)).render(sink)
}

/// An observer that remembers what it hears.
package final class Recorder: RunObserver {
    private let events = Guarded<[String]>([])
    /// Makes an empty one.
    package init() {}
    /// What was heard, such as `started web`.
    package var heard: [String] { events.withLock { $0 } }
    /// Remembers.
    package func jobStarted(_ plan: JobPlan) { events.withLock { $0.append("started \(plan.id)") } }
    /// Remembers.
    package func jobFinished(_ record: JobRecord) {
        events.withLock { $0.append("finished \(record.id)") }
    }
}

/// Plans and runs a job file given as text, in a folder; fails with the rendered messages where it is wrong.
/// `endlessSpace` lets a job start whatever room it is likely to need.
package func run(
    _ yaml: String, in directory: String, limit: Int = 2, keepsFailed: Bool = false,
    endlessSpace: Bool = false,
    observer: any RunObserver = Recorder()
) async throws -> [JobRecord] {
    let (file, sink) = decode(yaml, directory: directory)
    guard let file, !sink.hasErrors else { throw JudgeError(message: rendered(sink, yaml)) }
    let result = BatchPlanner.plan([file])
    guard !result.conflicts.hasErrors else { throw JudgeError(message: rendered(result.conflicts, yaml)) }
    var policy = RunPolicy(budget: .ofThisMachine(jobs: limit))
    policy.keepsFailed = keepsFailed
    if endlessSpace { policy.space = { _ in nil } }
    return await BatchRunner(
        plan: result.plan, files: result.files, policy: policy, performer: LocalPerformer(MediaEnvironment()),
        prober: LocalProber(),
        observer: observer
    ).run()
}

/// The one outcome of a run, as a success; otherwise an error that says why not.
package func success(_ outcomes: [JobRecord], _ id: String? = nil) throws -> JobResult {
    guard let found = outcomes.first(where: { id == nil || $0.id == id }) else {
        throw JudgeError(message: "no such job")
    }
    switch found.outcome {
    case .succeeded(let result): return result
    case .failed(let failure):
        throw JudgeError(message: "\(found.id): \(failure.location): \(failure.message)")
    default: throw JudgeError(message: "\(found.id): \(found.outcome)")
    }
}
