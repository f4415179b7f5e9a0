package import JobRun
internal import JobSpec

/// The folder in which a batch records what was done, and how it identifies sources.
package struct StateLocation: Sendable {
    /// The folder; `.tandem` beside each job file where nil.
    package var folder: String?
    /// The identity by which a source counts as unchanged.
    package var mode: FingerprintMode
    /// Called with messages for people: that another run is waited for, that a state is damaged.
    package var notify: @Sendable (String) -> Void

    /// Names a location.
    package init(folder: String?, mode: FingerprintMode, notify: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.mode = mode
        self.notify = notify
    }

    /// Locks the folders for this process; they are unlocked when the result is released. `waits` waits for a run that
    /// has one of them.
    /// - Throws: an environment error where a folder is in use or can't be locked.
    package func lock(_ set: JobFileSet, waits: Bool = false) throws(EngineError) -> [StateLock] {
        if isIgnored(set.access) { return [] }
        let folders = Set(set.files.map { place(of: $0, set.access) })
        var locks: [StateLock] = []
        for folder in folders.sorted(by: { $0.path < $1.path }) {
            let notify = notify
            let onWait = { (holder: String) in
                notify("waiting for the state folder \(folder.path) (\(holder))")
            }
            locks.append(
                try Self.converting { () throws(StateError) in
                    try StateLock(folder, for: set.paths, onWait: waits ? onWait : nil)
                })
        }
        return locks
    }

    /// Opens the state of job files.
    /// - Throws: an environment error where it can't be read.
    package func open(
        _ set: JobFileSet, isForced: Bool = false, isReading: Bool = false
    ) throws(EngineError) -> RunState {
        if isIgnored(set.access) { return RunState(isForced: isForced, environment: set.access.sources) }
        let state = try Self.converting { () throws(StateError) in
            try RunState(
                files: set.files.map(\.path), folder: folder.map { StateFolder(path: $0) },
                environment: set.access.sources, specs: set.fingerprints, mode: mode, isForced: isForced,
                isReading: isReading)
        }
        for damaged in state.damaged {
            notify(
                "warning: the state in \(damaged.path) was damaged and is begun anew; what it knew is in state.sqlite.damaged"
            )
        }
        return state
    }

    /// Opens the state of job files for reading, without decoding the files.
    /// - Throws: an environment error where it can't be read.
    package func open(files: [String], _ access: SourceAccess) throws(EngineError) -> RunState {
        if isIgnored(access) { return RunState(isForced: false, environment: access.sources) }
        return try Self.converting { () throws(StateError) in
            try RunState(
                files: files, folder: folder.map { StateFolder(path: $0) }, environment: access.sources,
                specs: [:], isReading: true)
        }
    }

    /// A state beside untrusted job files may have come with them.
    private func isIgnored(_ access: SourceAccess) -> Bool { folder == nil && access.isUntrusted }

    private func place(of file: JobFile, _ access: SourceAccess) -> StateFolder {
        folder.map { StateFolder(path: $0) }
            ?? StateFolder(besideJobFile: file.path, beneath: access.root)
    }

    /// A state that can't be used is an error of the environment.
    package static func converting<Value>(
        _ body: () throws(StateError) -> Value
    ) throws(EngineError) -> Value {
        do throws(StateError) {
            return try body()
        } catch {
            throw EngineError(.environment, "\(error)")
        }
    }
}
