internal import ArgumentParser
internal import Diagnostics
internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec
internal import LibAV

/// Where a batch remembers what it did, and by what it knows a source.
struct StateArguments: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "The folder that remembers what was done; `.tandem` beside each job file when absent.",
            valueName: "dir"), completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "By what a source is known to be unchanged: stat (size, time, inode) or content (SHA-256)."))
    var fingerprint: Fingerprint = .stat

    /// `FingerprintMode` as an argument.
    enum Fingerprint: String, ExpressibleByArgument, CaseIterable {
        case stat, content

        var mode: FingerprintMode { self == .stat ? .stat : .content }
    }

    /// Takes the folders for this run; nobody else runs in them until the result is gone. Where another run has one it is
    /// waited for, if so asked.
    func lock(_ loader: JobFileLoader, waits: Bool = false) throws -> [StateLock] {
        if isIgnored(loader.access) { return [] }
        let folders = Set(loader.files.map { place(of: $0, loader.access) })
        return try folders.sorted { $0.path < $1.path }.map { folder in
            try Self.must { () throws(StateError) in
                try StateLock(
                    folder, for: loader.paths,
                    onWait: waits
                        ? { holder in
                            Terminal.say(
                                "waiting for the state folder \(TextRenderer.printable(folder.path)) (\(holder))"
                            )
                        } : nil)
            }
        }
    }

    /// What the folders hold.
    func open(_ loader: JobFileLoader, isForced: Bool = false, isReading: Bool = false) throws -> RunState {
        if isIgnored(loader.access) {
            return RunState(isForced: isForced, environment: loader.access.sources)
        }
        let state = try Self.must { () throws(StateError) in
            try RunState(
                files: loader.files.map(\.path), folder: folder.map { StateFolder(path: $0) },
                environment: loader.access.sources, specs: loader.fingerprints, mode: fingerprint.mode,
                isForced: isForced, isReading: isReading)
        }
        for damaged in state.damaged {
            Terminal.say(
                "warning: the state in \(damaged.path) was damaged and is begun anew; what it knew is in state.sqlite.damaged"
            )
        }
        return state
    }

    /// What the folders of some files hold, without a look into the files.
    func open(files: [String], _ access: CommandAccess) throws -> RunState {
        if isIgnored(access) { return RunState(isForced: false, environment: access.sources) }
        return try Self.must { () throws(StateError) in
            try RunState(
                files: files, folder: folder.map { StateFolder(path: $0) },
                environment: access.sources, specs: [:], isReading: true)
        }
    }

    /// A state that may have come with the job files is not believed.
    private func isIgnored(_ access: CommandAccess) -> Bool { folder == nil && access.isUntrusted }

    private func place(of file: JobFile, _ access: CommandAccess) -> StateFolder {
        folder.map { StateFolder(path: $0) }
            ?? StateFolder(besideJobFile: file.path, beneath: access.sources.root)
    }

    /// A state that can't be used is this machine's fault.
    static func must<Value>(_ body: () throws(StateError) -> Value) throws -> Value {
        do throws(StateError) {
            return try body()
        } catch {
            Terminal.say("error: \(error)")
            throw ExitCode.environment
        }
    }
}
