internal import JobRun

/// The engine that runs the parts of a batch.
package enum ClusterEngineKind: String, Codable, CaseIterable, Sendable {
    /// Tasks of a job array of Slurm.
    case slurm
    /// Processes on this machine.
    case local
    /// Pods of an Indexed Job of Kubernetes, whose manifest is written.
    case kubernetes
    /// Tasks of an Open Job Description template, which is written.
    case openjd
}

/// The state of a part in its engine.
package enum PartState: Hashable, Sendable {
    /// Waits for the engine, with the reason that the engine states; empty if it states none.
    case waiting(reason: String)
    case running
}

/// A program that starts the parts of a batch as processes, on this machine or on others that share the batch's folder. It
/// states which parts wait or run. Only the results of a part (`ShardFolder`) state what it has done.
package protocol ClusterEngine: Sendable {
    /// Returns the maximum number of parts of a submission.
    /// - Throws: An environment error if the engine can't be reached.
    func maxParts() async throws(EngineError) -> Int

    /// Starts the parts of a submission whose files are written, and returns a description for the user, in one line.
    /// - Throws: An environment error if the engine refuses the submission, of which no part is started then.
    func start(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> String

    /// Returns the states of parts that wait or run; parts that have ended are absent.
    /// - Throws: An environment error if the engine can't be reached.
    func states(of submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> [Int:
        PartState]

    /// Cancels all parts that wait or run. Their jobs publish nothing.
    /// - Throws: An environment error if the engine can't be reached.
    func cancel(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError)
}

extension ClusterEngineKind {
    /// The control of parts.
    enum Control: Sendable {
        /// By an engine that starts, queries and cancels the parts.
        case engine(any ClusterEngine)
        /// By another program, for which a file is written.
        case export(any PartExport)
    }

    var control: Control {
        switch self {
        case .slurm: .engine(SlurmEngine())
        case .local: .engine(LocalEngine())
        case .kubernetes: .export(KubernetesExport())
        case .openjd: .export(OpenJobDescriptionExport())
        }
    }

    /// Returns the maximum number of parts of a submission.
    /// - Throws: An environment error if the engine can't be reached.
    package func maxParts() async throws(EngineError) -> Int {
        switch control {
        case .engine(let engine): min(try await engine.maxParts(), ShardFolder.maxParts)
        case .export: ShardFolder.maxParts
        }
    }

    /// Whether parts can begin after others.
    var ordersParts: Bool { self != .kubernetes }

    /// Whether a file is written for another program, which the user starts.
    var isExport: Bool { if case .export = control { true } else { false } }

    /// Absolute path of the program where the parts run; nil if it is that of this program.
    package var program: String? { self == .kubernetes ? "/usr/bin/tandem" : nil }

    /// The options that the engine requires.
    var requiredOptions: [ClusterResources.Option] { self == .kubernetes ? [.image, .claim] : [] }

    /// The options that the engine has.
    var resourceOptions: Set<ClusterResources.Option> {
        switch self {
        case .slurm: [.partition, .account, .time, .cpus, .memory, .concurrent]
        case .local: [.concurrent]
        case .kubernetes: [.time, .cpus, .memory, .concurrent, .image, .claim]
        case .openjd: [.time, .cpus, .memory]
        }
    }
}
