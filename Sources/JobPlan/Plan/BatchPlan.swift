public import Diagnostics

/// All jobs of one call, in the order they may start.
public struct BatchPlan: Codable, Sendable {
    /// The version of this form.
    public var version = 1
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
        /// The absolute path.
        public var destination: String

        /// Names one.
        public init(id: String?, destination: String) {
            self.id = id
            self.destination = destination
        }
    }

    /// A job that has nothing to do.
    public struct Settled: Codable, Sendable {
        /// The job's id.
        public var id: String
        /// The job's id as the file has it.
        public var base: String
        /// The job file.
        public var file: String
        /// What it published.
        public var outputs: [Output]

        /// Where one of them is.
        public func destination(of id: String?) -> String? { outputs.first { $0.id == id }?.destination }
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
    public init(jobs: [JobPlan], settled: [Settled] = [], refusals: [Refusal]) {
        self.jobs = jobs
        self.settled = settled
        self.refusals = refusals
    }
}
