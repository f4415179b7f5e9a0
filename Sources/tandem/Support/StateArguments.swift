internal import ArgumentParser
internal import Engine
internal import JobRun

/// Where a batch records what was done, and how it identifies sources.
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

    /// The location for the engine.
    var location: StateLocation {
        StateLocation(folder: folder, mode: fingerprint.mode, notify: { Terminal.say($0) })
    }
}
