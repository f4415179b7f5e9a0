internal import JobPlan

/// The messages between supervisor and worker: values encoded by `BinaryCoding`, each preceded by its length in four
/// bytes. Descriptors are sent as ancillary data of the socket.
enum WorkerMessage {
    /// Protocol version. Both ends are the same executable, unless it was replaced while it ran.
    static let version = 8

    /// A message from the supervisor.
    enum Order: Codable, Sendable {
        /// The worker's arguments; always the first message.
        case begin(WorkerMain.Arguments)
        /// Work. The descriptors of outputs, scratch file and sources are attached, in this order.
        case work(Work)
        /// A request to end the current work at once.
        case cancel
        /// A request to attempt actions that a sandbox forbids, on a file and on a process.
        case testSandbox(path: String, process: Int32)
        /// Files of an image sequence, from the requested one on. Their descriptors are attached; none if the file
        /// can't be opened.
        case images(ImageIndex, count: Int)
        /// A probe of a source. Its descriptor is attached if it is a file.
        case probe(Probe)
    }

    /// A file of one of the work's image sequences.
    struct ImageIndex: Codable, Hashable, Sendable {
        /// Index of the sequence in the plan.
        var sequence: Int
        /// Index of the file in the sequence.
        var index: Int
    }

    /// A probe request with its transport data.
    struct Probe: Codable, Sendable {
        var request: ProbeRequest
        /// Whether the source's descriptor is attached.
        var hasDescriptor: Bool
        /// A fault to inject, for tests; nil in release builds.
        var fault: WorkerFault?
    }

    /// Work with its transport data.
    struct Work: Codable, Sendable {
        var plan: JobPlan
        /// Whether there are two passes: the descriptor after those of the outputs is the scratch file.
        var hasScratch: Bool
        /// Paths of the sources whose descriptors are attached.
        var sources: [String]
        /// Whether previews of finished outputs are created for a report.
        var makesPreview: Bool
        /// Whether the outputs exist already and only their expectations are evaluated.
        var onlyEvaluates: Bool
        /// A fault to inject, for tests; nil in release builds.
        var fault: WorkerFault?
    }

    /// A message from the worker.
    enum Report: Codable, Sendable {
        /// The worker is ready. `lacking`: parts of the sandbox that are not in force.
        case ready(version: Int, lacking: Int32)
        /// Progress of the work, and a counter that grows with any activity.
        case progress(WorkProgress, activity: UInt64)
        /// The outputs are complete; only previews for a report follow.
        case checked(WorkFindings)
        /// A request for a file of an image sequence, and those that follow it.
        case requestFile(ImageIndex)
        /// The outcome of the work.
        case done(WorkOutcome)
        /// The result of a probe.
        case probed(ProbeReply)
        /// Results of the attempts that a sandbox forbids.
        case sandboxTested([SandboxFinding])
    }
}

/// The result of a probe.
enum ProbeReply: Codable, Sendable {
    /// The response of the requested kind.
    case response(ProbeResponse)
    /// The reason why the probe failed.
    case failure(SourceProblem)
}
