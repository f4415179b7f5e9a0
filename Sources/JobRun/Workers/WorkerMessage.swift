internal import JobPlan

/// What supervisor and worker say to each other: `BinaryCoding` after its length in four bytes, descriptors beside it.
enum WorkerMessage {
    /// The version of what follows; both ends are one executable, unless it was replaced while it ran.
    static let version = 6

    /// From the supervisor.
    enum Order: Codable, Sendable {
        /// What it may do: the first thing that it hears.
        case begin(WorkerMain.Arguments)
        /// Work; descriptors of outputs, scratch file and sources come along, in this order.
        case work(Work)
        /// What is done is to end at once.
        case cancel
        /// It is to try what a sandbox forbids, on a file and on a process.
        case escape(path: String, process: Int32)
        /// Files of an image sequence, from the one that was asked for on: their descriptors come along; none where it can't be opened.
        case images(ImagePlace, count: Int)
        /// A look into a source; its descriptor comes along where it is a file.
        case look(Look)
    }

    /// A file of one of the work's image sequences.
    struct ImagePlace: Codable, Hashable, Sendable {
        /// Which of the plan's sequences.
        var sequence: Int
        /// Which of its files.
        var index: Int
    }

    /// A question as it travels.
    struct Look: Codable, Sendable {
        var question: ProbeRequest
        /// The source's descriptor comes along.
        var isLent: Bool
        /// A fault to inject, for tests; nil in release builds.
        var fault: WorkerFault?
    }

    /// Work as it travels.
    struct Work: Codable, Sendable {
        var plan: JobPlan
        /// Two passes: a descriptor after those of the outputs is the scratch file.
        var hasScratch: Bool
        /// The paths of the sources whose descriptors come along.
        var sources: [String]
        /// What is finished is looked at for a report.
        var makesPreview: Bool
        /// The outputs are there already, and are judged.
        var onlyJudges: Bool
        /// A fault to inject, for tests; nil in release builds.
        var fault: WorkerFault?
    }

    /// From the worker.
    enum Report: Codable, Sendable {
        /// It is there. `lacking`: what it could not be kept from.
        case ready(version: Int, lacking: Int32)
        /// How far the work has come, and a number that grows while anything happens at all.
        case progress(WorkProgress, activity: UInt64)
        /// The outputs are whole; what is looked at now is for a report.
        case checked(WorkFindings)
        /// It wants this file of an image sequence, and those behind it.
        case wants(ImagePlace)
        /// How the work ended.
        case done(WorkOutcome)
        /// What came of a look.
        case seen(Sight)
        /// What worked of what a sandbox forbids.
        case escaped([SandboxFinding])
    }
}

/// What came of a look into a source.
enum Sight: Codable, Sendable {
    /// What was asked for.
    case answer(ProbeResponse)
    /// Why there is none.
    case problem(SourceProblem)
}
