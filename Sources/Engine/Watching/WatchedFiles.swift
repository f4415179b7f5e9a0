internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobPlan
internal import JobStages

/// The job files of a watch, and the files that their jobs read.
struct WatchedFiles {
    /// The state of the job files, compared with when they were loaded.
    enum Change {
        case none
        /// A file has changed, and may still be written. The value is the earliest time at which this may have changed.
        case incomplete(until: ContinuousClock.Instant)
        /// The files are to be loaded again: a file has changed, or the files had errors, which may concern files that
        /// aren't known.
        case complete
    }

    private let options: WatchSession.Options
    private let access: SourceAccess
    private var set: JobFileSet
    /// Tokens of the job files when they were loaded, by path.
    private var loaded: [ExactString: String] = [:]
    /// Diagnostics of the files when they were loaded.
    private var reported: [Diagnostic] = []
    /// Whether the files had no errors when they were loaded.
    private(set) var areValid = false
    /// The states of all files when they were examined.
    private(set) var settling: FileSettling
    /// Folders in which changes matter.
    private(set) var folders: Set<ExactString> = []
    /// The state of the job files when they were examined.
    private(set) var change = Change.none

    init(_ options: WatchSession.Options, access: SourceAccess) {
        (self.options, self.access) = (options, access)
        settling = FileSettling(time: options.settlingTime, beneath: access.root)
        set = JobFileSet(files: [], variables: [:], access: access)
    }

    /// Reads the job files, and prints their diagnostics. Returns the status of files with errors, whose jobs aren't listed;
    /// nil for others.
    mutating func load(_ output: any RunOutput, _ strictness: Pipeline.Strictness) throws -> RunStatus? {
        var before: [ExactString: String]
        repeat {
            before = Self.tokens(options.run.files + loaded.keys.map(\.text))
            set = JobFileSet(files: options.run.files, variables: options.run.variables, access: access)
            loaded = Self.tokens(set.paths + set.texts.all.map(\.file))
            // A file that changed while it was read is read again.
        } while loaded.contains { before[$0.key] ?? $0.value != $0.value }
        output.filesLoaded(set)
        let found = set.loaded.allDiagnostics(access.prober)
        // Files with errors are loaded repeatedly.
        if found.diagnostics != reported { try output.report(found, of: set, annotates: true) }
        reported = found.diagnostics
        let status = strictness.status(of: found)
        areValid = status == nil
        return status
    }

    /// Lists the jobs with their files, and examines the files and the job files.
    mutating func examine(at now: ContinuousClock.Instant) -> JobInputs {
        let disk = VisitedFolders()
        let inputs = areValid ? JobInputs(set.files, beneath: access.root, on: disk) : JobInputs(jobs: [])
        let sources = Set(inputs.jobs.flatMap(\.files).map(\.path.exact)).map(\.text)
        let specs = loaded.keys.map(\.text)
        let (loaded, root) = (loaded, access.root)
        settling.examine(sources + specs, at: now) { path in
            loaded[path.exact] == nil ? Self.token(ofSource: path, beneath: root) : Self.token(path)
        }
        folders = disk.folders
        for path in sources + specs {
            folders.insert(path.parentFolder.exact)
            // The file that a link leads to changes in another folder.
            if FileStatus(path: path, followingLinks: false)?.isLink == true, let file = RealPath.of(path) {
                folders.insert(file.parentFolder.exact)
            }
        }
        change = currentChange
        return inputs
    }

    /// Returns whether the files of some jobs are still those that were examined.
    func areUnchanged(_ keys: Set<JobKey>, of inputs: JobInputs) -> @Sendable () -> Bool {
        let paths = Set(inputs.jobs.filter { keys.contains($0.key) }.flatMap(\.files).map(\.path.exact))
        let tokens = paths.map { ($0.text, settling.token(of: $0.text)) }
        let root = access.root
        return { tokens.allSatisfy { path, token in Self.token(ofSource: path, beneath: root) == token } }
    }

    private var currentChange: Change {
        if !areValid { return .complete }
        var isChanged = false
        for (path, token) in loaded where settling.token(of: path.text) != token {
            if case .incomplete(let end) = settling.state(of: path.text) { return .incomplete(until: end) }
            isChanged = true
        }
        return isChanged ? .complete : .none
    }

    private static func tokens(_ paths: [String]) -> [ExactString: String] {
        Dictionary(paths.map { ($0.exact, token($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the token of a job file. A missing file is a state like any other: editors replace files.
    private static func token(_ path: String) -> String { FileIdentity.changeToken(path: path) ?? "" }

    /// Returns the token of a source; nil if it doesn't exist. Other problems, such as that the path leaves the root, are states
    /// like any other, with which the job fails.
    private static func token(ofSource path: String, beneath root: PathRoot) -> String? {
        if root.excludes(path) { return "" }
        if let token = FileIdentity.changeToken(path: path) { return token }
        let code = errno
        return code == ENOENT || code == ENOTDIR ? nil : "\(code)"
    }
}
