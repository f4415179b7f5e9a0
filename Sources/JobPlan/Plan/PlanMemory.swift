package import FileSystem
package import JobSpec

/// The planner's access to the records of earlier runs.
package protocol PlanMemory: Sendable {
    /// Returns the published outputs of a job that needn't be planned: the job succeeded with this job file
    /// and this source, and its outputs are unchanged. Returns nil if the job must be planned.
    func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs?
    /// Returns whether a file at a destination was published for a job file, although the file has no mark.
    func owns(_ path: String, for file: String) -> Bool
    /// Returns whether the file at an output's destination was created by an equal plan, of any job.
    func wasCreated(by task: OutputTask) -> Bool
    /// Returns the owner that the mark of a job file's output contains; nil if marks aren't compared.
    func owner(ofFile path: String, at destination: String) -> String?
}

/// The data that determines whether a job is up to date, before the job is planned.
package struct UpToDateQuery: Sendable {
    package var file: JobFile
    /// The job as the job file specifies it.
    package var job: JobSpec
    /// Path of the source; nil for a test signal.
    package var source: String?
    /// Paths of the covers from image files.
    package var covers: [String] = []
    /// Paths of the subtitle files that rules name. Optional ones may not exist.
    package var subtitles: [String] = []
    /// Outputs with their destinations.
    package var outputs: [Output]

    package struct Output: Sendable {
        /// The output's id; nil for the only output of a job.
        package var id: String?
        /// Destination as in the job file, with a resolved folder; nil for a check.
        package var destination: String?
        /// Whether the number and names of the output's files depend on the source.
        package var hasSeveralFiles: Bool
    }
}

/// The outputs of a job that is up to date, and the identities of its files, which were read to determine this. The
/// checks of a whole call use them again instead of reading them twice.
package struct UpToDateOutputs: Sendable {
    /// The published outputs.
    package var outputs: [BatchPlan.Output]
    /// The files whose identities are known. A file that is a link is not among them.
    package var files: [File]

    /// A file with its identity.
    package struct File: Sendable {
        package var path: String
        package var identity: FileIdentity

        package init(path: String, identity: FileIdentity) { (self.path, self.identity) = (path, identity) }
    }

    package init(outputs: [BatchPlan.Output], files: [File] = []) {
        (self.outputs, self.files) = (outputs, files)
    }
}

/// A memory without records: every job is planned, and marks aren't compared.
package struct NoMemory: PlanMemory {
    package init() {}
    package func wasCreated(by task: OutputTask) -> Bool { false }
    package func owner(ofFile path: String, at destination: String) -> String? { nil }
    package func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? { nil }
    package func owns(_ path: String, for file: String) -> Bool { false }
}

/// The memory of a dry run, which plans every job, including those that are up to date. All other queries are
/// forwarded.
package struct FullPlanMemory: PlanMemory {
    private let base: any PlanMemory
    /// Whether any file at a destination may be its output, whoever created it.
    private let ownsAnyFile: Bool

    package init(_ base: any PlanMemory, ownsAnyFile: Bool = false) {
        (self.base, self.ownsAnyFile) = (base, ownsAnyFile)
    }

    /// Returns nil: every job is planned.
    package func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? { nil }
    package func owns(_ path: String, for file: String) -> Bool {
        ownsAnyFile || base.owns(path, for: file)
    }
    package func wasCreated(by task: OutputTask) -> Bool { base.wasCreated(by: task) }
    package func owner(ofFile path: String, at destination: String) -> String? {
        ownsAnyFile ? nil : base.owner(ofFile: path, at: destination)
    }
}
