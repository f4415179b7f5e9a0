package import JobRun
internal import JobSpec

/// The location of the state, and the method by which unchanged sources are identified.
package struct StateLocation: Sendable {
    /// Path of the folder; nil for `.tandem` in each job file's folder.
    package var folder: String?
    /// Property by which an unchanged source is identified.
    package var mode: FingerprintMode
    /// Receives messages for the user, such as about a lock that another run holds, or a damaged state.
    package var notify: @Sendable (String) -> Void

    package init(folder: String?, mode: FingerprintMode, notify: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.mode = mode
        self.notify = notify
    }

    /// Locks the state folders until the result is released. `waits`: whether to wait for a run that holds a lock.
    /// - Throws: An environment error if a folder is in use or can't be locked.
    package func lock(_ set: JobFileSet, waits: Bool = false) throws(EngineError) -> [StateLock] {
        if isIgnored(set.access) { return [] }
        let folders = Set(set.files.map { stateFolder(of: $0, set.access) })
        var locks: [StateLock] = []
        for folder in folders.sorted(by: { $0.path < $1.path }) {
            let notify = notify
            let onWait = { (holder: String) in
                notify("waiting for the state folder \(folder.path) (\(holder))")
            }
            locks.append(
                try Self.convertingErrors { () throws(StateError) in
                    try StateLock(folder, for: set.paths, onWait: waits ? onWait : nil)
                })
        }
        return locks
    }

    /// Opens the state of job files. `isForced`: whether all outputs count as out of date.
    /// - Throws: An environment error if the state can't be read.
    package func open(
        _ set: JobFileSet, isForced: Bool = false, isReading: Bool = false
    ) throws(EngineError) -> RunState {
        if isIgnored(set.access) { return RunState(isForced: isForced, environment: set.access.sources) }
        let state = try Self.convertingErrors { () throws(StateError) in
            try RunState(
                files: set.files.map(\.path), folder: folder.map { StateFolder(path: $0) },
                environment: set.access.sources, specs: set.fingerprints, mode: mode, isForced: isForced,
                isReading: isReading)
        }
        for damaged in state.damagedFolders {
            notify(
                "warning: the state in \(damaged.path) was damaged, and a new one is created; the damaged file is kept as state.sqlite.damaged"
            )
        }
        return state
    }

    /// Opens the state of job files for reading, without decoding the files.
    /// - Throws: An environment error if the state can't be read.
    package func open(files: [String], _ access: SourceAccess) throws(EngineError) -> RunState {
        if isIgnored(access) { return RunState(isForced: false, environment: access.sources) }
        return try Self.convertingErrors { () throws(StateError) in
            try RunState(
                files: files, folder: folder.map { StateFolder(path: $0) }, environment: access.sources,
                specs: [:], isReading: true)
        }
    }

    /// Returns whether the state is ignored: a state in the folder of untrusted job files may come from the same
    /// origin.
    private func isIgnored(_ access: SourceAccess) -> Bool { folder == nil && access.isUntrusted }

    private func stateFolder(of file: JobFile, _ access: SourceAccess) -> StateFolder {
        folder.map { StateFolder(path: $0) }
            ?? StateFolder(adjacentToJobFile: file.path, beneath: access.root)
    }

    /// Runs `body` and converts a state error to an environment error.
    package static func convertingErrors<Value>(
        _ body: () throws(StateError) -> Value
    ) throws(EngineError) -> Value {
        do throws(StateError) {
            return try body()
        } catch {
            throw EngineError(.environment, "\(error)")
        }
    }
}
