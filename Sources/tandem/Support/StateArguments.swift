internal import ArgumentParser
internal import Engine
internal import JobRun

/// Options for the location of the state, and for identifying sources.
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

    /// Command-line values of `FingerprintMode`.
    enum Fingerprint: String, ExpressibleByArgument, CaseIterable {
        case stat, content

        var mode: FingerprintMode { self == .stat ? .stat : .content }
    }

    /// The state's location as the engine's configuration.
    var location: StateLocation {
        StateLocation(folder: folder, mode: fingerprint.mode, notify: { Terminal.say($0) })
    }
}
