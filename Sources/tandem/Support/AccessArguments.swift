internal import ArgumentParser
internal import Diagnostics
internal import Engine

/// The options for access to files and networks.
struct AccessArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Every job file that is included, source and destination must lie beneath this folder, whatever links lead there.",
            valueName: "dir"),
        completion: .directory)
    var root: String?

    @Flag(
        help: ArgumentHelp(
            "For what strangers wrote: everything beneath one folder (of the file, unless --root says another), no environment, no network, the sandbox required, no state but that of --state."
        ))
    var untrusted = false

    @Flag(help: "Sources may be http and https URLs; nothing is fetched otherwise.")
    var allowNetwork = false

    func validate() throws {
        if untrusted, allowNetwork {
            throw ValidationError("--untrusted fetches nothing: not with --allow-network")
        }
    }

    /// Grants access before any file is opened.
    func granted(for files: [String]) throws -> SourceAccess {
        try SourceAccess.granted(
            root: root, isUntrusted: untrusted, allowsNetwork: allowNetwork, for: files)
    }
}
