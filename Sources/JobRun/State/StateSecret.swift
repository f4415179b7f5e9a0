internal import ExactStrings
internal import Glibc
internal import LibAV

/// The proof that a state was written by this user on this machine, and doesn't come from a checked-out repository: a
/// digest of the folder's path and of a secret that is stored in the user's home.
enum StateSecret {
    private static let name = "owner"

    /// Writes the proof into a folder.
    static func sign(_ folder: StateFolder) {
        let path = folder.path + "/" + name
        // An existing proof is replaced, since it may be untrusted.
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let text = Array(proof(of: folder).utf8)
        _ = text.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    }

    /// Returns whether a folder contains a valid proof.
    static func isSigned(_ folder: StateFolder) -> Bool {
        let file = open(folder.path + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = max(0, read(file, &bytes, bytes.count))
        return String(decoding: bytes.prefix(count), as: UTF8.self) == proof(of: folder)
    }

    private static func proof(of folder: StateFolder) -> String {
        var hasher = SHA256Hasher()
        secret.withUnsafeBytes { hasher.update($0) }
        hasher.update(folder.absolute)
        return hasher.finish()
    }

    /// The user's secret of 32 bytes. If it can't be stored, the ids of machine and user are used instead.
    private static let secret: [UInt8] = {
        guard let base = base else { return machineID }
        let path = base + "/tandem/secret"
        if let known = contents(path), known.count == 32 { return known }
        var created = ""
        for part in (base + "/tandem").pathParts {
            created += "/" + part
            mkdir(created, 0o700)
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // Created by `link`, because another run may create the file at the same time.
        let temporary = path + ".\(getpid())"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return machineID }
        let isWhole = write(file, bytes, bytes.count) == bytes.count
        close(file)
        if isWhole { link(temporary, path) }
        unlink(temporary)
        guard let known = contents(path), known.count == 32 else { return machineID }
        return known
    }()

    private static var base: String? {
        func folder(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }
    }

    private static func contents(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        // The file must belong to this user and be inaccessible to others.
        guard fstat(file, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, read(file, &bytes, bytes.count))
        return Array(bytes.prefix(count))
    }

    private static var machineID: [UInt8] {
        let known = open("/etc/machine-id", O_RDONLY | O_CLOEXEC)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = known >= 0 ? max(0, read(known, &bytes, bytes.count)) : 0
        if known >= 0 { close(known) }
        return Array(bytes.prefix(count)) + Array("\(geteuid())".utf8)
    }
}
