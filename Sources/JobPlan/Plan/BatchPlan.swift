public import Diagnostics
internal import ExactStrings
internal import LibAV
package import FileSystem
internal import Media

/// All jobs of one call, in the order they may start.
public struct BatchPlan: Codable, Sendable {
    /// The version of this form.
    package var version = 1
    /// The plans, every job after the ones it waits for.
    public var jobs: [JobPlan]
    /// Jobs whose outputs are up to date, without a look into their sources.
    public var settled: [Settled] = []
    /// Messages about jobs that can't be carried out, and notes; by job.
    public var refusals: [Refusal]

    /// What a job that has nothing to do published.
    public struct Output: Codable, Hashable, Sendable {
        /// Its id; nil for the only one of a job.
        public var id: String?
        /// The absolute path, of the first where it has several files.
        public var destination: String
        /// The absolute paths of the others; nil where there are none.
        public var others: [String]?
        /// All of them.
        package var files: [String] { [destination] + (others ?? []) }

        /// Names one.
        package init(id: String?, destination: String, others: [String]? = nil) {
            self.id = id
            self.destination = destination
            self.others = others
        }
    }

    /// A job that has nothing to do.
    public struct Settled: Codable, Sendable {
        /// The job's id.
        public var id: String
        /// The job's id as the file has it.
        package var base: String
        /// The job file.
        public var file: String
        /// What it published.
        public var outputs: [Output]

        /// Where one of them is.
        package func destination(of id: String?) -> String? { outputs.first { $0.id == id }?.destination }
    }

    /// A job that can't be carried out.
    public struct Refusal: Codable, Sendable {
        /// The job's id.
        public var id: String
        /// The job file.
        public var file: String
        /// Why.
        public var diagnostics: [Diagnostic]
    }

    /// Makes a plan.
    package init(jobs: [JobPlan], settled: [Settled] = [], refusals: [Refusal]) {
        self.jobs = jobs
        self.settled = settled
        self.refusals = refusals
    }
    /// Local files that its jobs read: as they were when it was made; images as they are now, however many jobs read them.
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
