internal import ArgumentParser
internal import Diagnostics
internal import ExactStrings
internal import Glibc
internal import JobSpec
internal import LibAV
internal import Locking

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

    /// Strangers wrote what this process reads.
    static var isUntrusted: Bool { strangers.withLock { $0 } }
    private static let strangers = Guarded(false)

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

    /// Closes the gates, before any of these files is opened; their folder is the root where none is named.
    func apply(_ files: [String]) throws {
        if untrusted {
            Self.strangers.withLock { $0 = true }
            if root == nil, files.isEmpty { throw ValidationError("--untrusted wants --root here") }
        }
        if allowNetwork { NetworkAccess.allow() }
        if untrusted, root == nil, let file = files.first, let linked = Self.link(onTheWayTo: file) {
            throw ValidationError(
                "\(SafeText.line(linked)) is a link: --root says which folder --untrusted keeps everything in"
            )
        }
        guard let folder = root ?? (untrusted ? files.first.map(SystemSpecFiles.folder) : nil) else { return }
        try Self.confine(to: folder)
    }

    /// Nothing outside this folder is opened from here on.
    static func confine(to folder: String) throws {
        guard PathRoot.confine(to: folder) else {
            Terminal.say("error: the folder \(TextRenderer.printable(folder)) of --root can't be opened")
            throw ExitCode.environment
        }
    }
}
