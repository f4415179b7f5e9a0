internal import ArgumentParser
internal import Engine
internal import JobRun
internal import JobSpec

/// Options for the location of the state and for the identification of sources.
struct StateArguments: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "Folder of the state, which records finished jobs (default: .tandem beside each job file).",
            valueName: "dir"), completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "Detect changed sources by size, time and inode (stat), or by SHA-256 (content)."))
    var fingerprint: Fingerprint = .stat

    /// Command-line values of `FingerprintMode`.
    enum Fingerprint: String, ExpressibleByArgument, CaseIterable {
        case stat, content

        var mode: FingerprintMode { self == .stat ? .stat : .content }
    }

    func validate() throws {
        if let problem = URLScheme.problem(of: "--state", folder) { throw ValidationError(problem) }
    }

    /// The options as the engine's configuration.
    var location: StateLocation {
        StateLocation(folder: folder, mode: fingerprint.mode, notify: { Terminal.reportLine($0) })
    }
}
