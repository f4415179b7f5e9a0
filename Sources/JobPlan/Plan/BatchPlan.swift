public import Diagnostics
internal import ExactStrings
internal import LibAV
package import FileSystem
internal import Media
internal import JobSpec

/// The plan of all jobs of one invocation, in the order in which they may start.
public struct BatchPlan: Codable, Sendable {
    /// Version of the plan's format.
    package var version = 1
    /// Plans of the jobs, each after its dependencies.
    public var jobs: [JobPlan]
    /// Jobs whose outputs are up to date, determined without probing their sources.
    public var upToDateJobs: [UpToDateJob] = []
    /// Jobs that are skipped, because a condition of `when` doesn't hold.
    public var skips: [Skip] = []
    /// Jobs that were rejected during planning, with their diagnostics.
    public var refusals: [Refusal]

    /// A published output of an up-to-date job, or a check that the source passed.
    public struct Output: Codable, Hashable, Sendable {
        /// The output's id; nil for the only output of a job.
        public var id: String?
        /// Absolute path of the output, or of its first file if it has several; nil for a check.
        public var destination: String?
        /// Absolute paths of the other files; nil if there are none.
        public var others: [String]?
        /// Absolute paths of all files.
        package var files: [String] { (destination.map { [$0] } ?? []) + (others ?? []) }

        package init(id: String?, destination: String?, others: [String]? = nil) {
            self.id = id
            self.destination = destination
            self.others = others
        }

        /// Creates the output of a plan, as it is published.
        package init(_ plan: OutputPlan) {
            let others = Array(plan.files.dropFirst())
            self.init(id: plan.id, destination: plan.destination, others: others.isEmpty ? nil : others)
        }
    }

    /// A job whose outputs are up to date.
    public struct UpToDateJob: Codable, Sendable {
        /// Id of the job instance.
        public var id: String
        /// The job's id in the job file, without the instance's suffix.
        package var base: String
        /// Path of the job file, as given by the user.
        public var file: String
        /// Published outputs of the job.
        public var outputs: [Output]

        /// Returns the absolute path of an output.
        package func destination(of id: String?) -> String? { outputs.first { $0.id == id }?.destination }
    }

    /// A job that is skipped.
    public struct Skip: Codable, Hashable, Sendable {
        /// Id of the job instance.
        public var id: String
        /// The job's id in the job file, without the instance's suffix.
        package var base: String
        /// Path of the job file, as given by the user.
        public var file: String
        /// Location of the condition in the job file, or of the skipped job's output as the source.
        package var location: SourceRange
        /// The facts that decide, in one line.
        public var reason: String
    }

    /// A job that was rejected during planning.
    public struct Refusal: Codable, Sendable {
        /// Id of the job instance.
        public var id: String
        /// Path of the job file, as given by the user.
        public var file: String
        /// Reasons of the rejection.
        public var diagnostics: [Diagnostic]

        /// The job's id in the job file.
        package var base: String { InstanceName(id).base }
    }

    package init(
        jobs: [JobPlan], upToDateJobs: [UpToDateJob] = [], skips: [Skip] = [], refusals: [Refusal]
    ) {
        self.jobs = jobs
        self.skips = skips
        self.upToDateJobs = upToDateJobs
        self.refusals = refusals
    }
    /// Identities of the local files that the jobs read: files as of planning, images and the sources of compositions
    /// as of now. Image sequences and sources that several jobs read are included once.
    package var sourceFiles: [FileIdentity] {
        var files: [FileIdentity] = []
        var seen: Set<ExactString> = []
        for input in jobs.flatMap(\.inputs) {
            switch input.source {
            case .file(_, let identity): files.append(identity)
            case .images(let sequence, let identity):
                guard seen.insert("\(identity) \(sequence.path)".exact).inserted else { continue }
                files += sequence.files.compactMap { FileIdentity(path: $0) }
            case .composition(let composition, _):
                let awaited = Set(input.awaited.map(\.path.exact))
                for case .file(let path) in composition.sources where !SourceLocation.isRemote(path) {
                    guard !awaited.contains(path.exact) else { continue }
                    guard seen.insert(path.exact).inserted else { continue }
                    files += FileIdentity(path: path).map { [$0] } ?? []
                }
            case .pattern, .job: break
            }
        }
        return files
    }
}
