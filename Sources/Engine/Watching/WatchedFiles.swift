internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import JobStages

/// The job files of a watch, and the files that their jobs read.
struct WatchedFiles {
    /// The state of the job files, compared with when they were loaded.
    enum Change {
        /// The files haven't changed, or have the errors that were printed.
        case none
        /// A file has changed, and may still be written. The value is the earliest time at which this may have changed.
        case incomplete(until: ContinuousClock.Instant)
        /// The files are to be loaded again.
        case complete
    }

    private let options: WatchSession.Options
    private let access: SourceAccess
    private var set: JobFileSet
    /// Tokens of the job files when they were loaded, by path.
    private var loaded: [ExactString: String] = [:]
    private var areValid = false
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
        set = JobFileSet(files: options.run.files, variables: options.run.variables, access: access)
        output.filesLoaded(set)
        loaded = [:]
        for path in set.paths + set.texts.all.map(\.file) { loaded[path.exact] = Self.token(path) }
        let found = set.loaded.allDiagnostics(access.prober)
        try output.report(found, of: set, annotates: true)
        let status = strictness.status(of: found)
        areValid = status == nil
        return status
    }

    /// Lists the jobs with their files, and examines the files and the job files.
    mutating func examine(at now: ContinuousClock.Instant) -> JobInputs {
        let disk = VisitedFolders()
        let inputs = areValid ? JobInputs(set.files, beneath: access.root, on: disk) : JobInputs(jobs: [])
        let sources = inputs.jobs.flatMap(\.files).map(\.path)
        settling.examine(sources + loaded.keys.map(\.text), at: now) { path in
            loaded[path.exact] == nil ? FileIdentity.changeToken(path: path) : Self.token(path)
        }
        folders = disk.folders
        for path in sources + loaded.keys.map(\.text) { folders.insert(FolderWatcher.parent(of: path).exact) }
        change = currentChange()
        return inputs
    }

    private func currentChange() -> Change {
        var isChanged = false
        for (path, token) in loaded where Self.token(path.text) != token {
            if case .incomplete(let end) = settling.state(of: path.text) { return .incomplete(until: end) }
            isChanged = true
        }
        return isChanged ? .complete : .none
    }

    /// Returns the token of a job file. A missing file is a state like any other: editors replace files.
    private static func token(_ path: String) -> String { FileIdentity.changeToken(path: path) ?? "" }
}
