internal import ArgumentParser
internal import Diagnostics
internal import Engine

/// Options for access to files and networks.
struct AccessArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Require all included files, sources and destinations to be inside this folder, with symbolic links resolved.",
            valueName: "dir"),
        completion: .directory)
    var root: String?

    @Flag(
        help: ArgumentHelp(
            "Run job files from untrusted authors: require the sandbox and a root folder (default: the job file's folder); disable environment variables, the network, and state other than that of --state."
        ))
    var untrusted = false

    @Flag(help: "Allow http and https URLs as sources.")
    var allowNetwork = false

    func validate() throws {
        if untrusted, allowNetwork {
            throw ValidationError("--untrusted can't be combined with --allow-network")
        }
    }

    /// Grants access. Called before any file is opened.
    func granted(for files: [String]) throws -> SourceAccess {
        try SourceAccess.granted(
            root: root, isUntrusted: untrusted, allowsNetwork: allowNetwork, for: files)
    }
}
