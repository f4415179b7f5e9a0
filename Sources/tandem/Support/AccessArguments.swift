internal import ArgumentParser
internal import Diagnostics
internal import ExactStrings
internal import Glibc
internal import JobSpec
internal import LibAV
internal import JobPlan
internal import Media
internal import FileSystem

/// What a command may reach, which the command line says before anything is read.
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

    /// The first link among the folders that a path names: a stranger may have made it, and the root would be where it leads.
    private static func link(onTheWayTo path: String) -> String? {
        var folder = path.utf8.first == UInt8(ascii: "/") ? "" : "."
        for part in path.pathParts.dropLast() {
            folder += "/" + part
            var status = stat()
            if lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { return folder }
        }
        return nil
    }

    /// What may be reached, found out before any of these files is opened; their folder is the root where none is named.
    func granted(for files: [String]) throws -> CommandAccess {
        if untrusted, root == nil, files.isEmpty { throw ValidationError("--untrusted wants --root here") }
        if untrusted, root == nil, let file = files.first, let linked = Self.link(onTheWayTo: file) {
            throw ValidationError(
                "\(SafeText.line(linked)) is a link: --root says which folder --untrusted keeps everything in"
            )
        }
        let folder = root ?? (untrusted ? files.first.map(SystemSpecFiles.folder) : nil)
        return CommandAccess(
            sources: SourceEnvironment(root: try Self.root(folder), allowsNetwork: allowNetwork),
            isUntrusted: untrusted)
    }

    /// Beneath a folder, or everywhere.
    static func root(_ folder: String?) throws -> PathRoot {
        guard let folder else { return .anywhere }
        guard let root = PathRoot(folder: folder) else {
            Terminal.say("error: the folder \(TextRenderer.printable(folder)) of --root can't be opened")
            throw ExitCode.environment
        }
        return root
    }
}

/// What a command may reach.
struct CommandAccess: Sendable {
    /// Through what sources are reached, and beneath what everything lies.
    let sources: SourceEnvironment
    /// Strangers wrote what is read.
    let isUntrusted: Bool
    /// Looks into sources in this process; presets ask about one file after the other.
    let prober: LocalProber

    init(sources: SourceEnvironment, isUntrusted: Bool) {
        self.sources = sources
        self.isUntrusted = isUntrusted
        prober = LocalProber(MediaEnvironment(sources: sources, memory: AssetCache(limit: 1)))
    }
}
