internal import JobPlan

/// The messages between supervisor and worker: values encoded by `BinaryCoding`, each preceded by its length in four
/// bytes. File descriptors are sent as ancillary data (`SCM_RIGHTS`).
enum WorkerMessage {
    /// Protocol version. Both ends are the same executable, unless it was replaced during the run.
    static let version = 11

    /// A message from the supervisor.
    enum Order: Codable, Sendable {
        /// The worker's arguments. Always the first message.
        case begin(WorkerMain.Arguments)
        /// Work. The descriptors of outputs, scratch file and sources are attached, in this order.
        case work(Work)
        /// A request to cancel the current work.
        case cancel
        /// A request to attempt actions that the sandbox must deny, on a file and on a process.
        case testSandbox(path: String, process: Int32)
        /// Files of an image sequence, starting at the requested one. Their descriptors are attached; without any, the
        /// requested file could not be opened.
        case images(ImageIndex, count: Int)
        /// A probe of a source. Its descriptor is attached if it is a local file.
        case probe(Probe)
        #if DEBUG
            /// A fault to inject into the next task, for tests.
            case inject(WorkerFault)
        #endif
    }

    /// The index of a file in one of the task's lists of files.
    struct ImageIndex: Codable, Hashable, Sendable {
        /// Index of the list in `requestedFiles` of the plan or the probe.
        var sequence: Int
        /// Index of the file in the list.
        var index: Int
    }

    struct Probe: Codable, Sendable {
        var request: ProbeRequest
        /// Whether the source's descriptor is attached.
        var hasDescriptor: Bool
    }

    struct Work: Codable, Sendable {
        var plan: JobPlan
        /// Whether a scratch file for a first pass or probes is attached, after the outputs.
        var hasScratch: Bool
        /// Paths of the sources whose descriptors are attached, in the same order.
        var sources: [String]
        /// Whether previews of finished outputs are created for the report.
        var makesPreview: Bool
        /// Treatment of the outputs.
        var task: WorkOrder.Task
        /// Whether other jobs may run at the same time.
        var sharesProcessors: Bool
    }

    /// A message from the worker.
    enum Report: Codable, Sendable {
        /// The worker is ready. `lacking` contains the parts of the sandbox that could not be enabled, as bits.
        case ready(version: Int, lacking: Int32)
        /// Progress of the work, and a counter that increases with each packet or frame.
        case progress(WorkProgress, activity: UInt64)
        /// The outputs are complete; only their previews remain to be created.
        case checked(WorkFindings)
        /// A request for a file of an image sequence and for the files that follow it.
        case requestFile(ImageIndex)
        case done(WorkOutcome)
        case probed(ProbeReply)
        /// Results of the attempted actions.
        case sandboxTested([SandboxFinding])
    }
}

/// The result of a probe.
enum ProbeReply: Codable, Sendable {
    /// A response of the requested kind.
    case response(ProbeResponse)
    case failure(SourceProblem)
}
