internal import CLinux
internal import FileSystem
internal import Glibc

/// The record of a set of files that replaces existing files. It exists from before the first rename until after the
/// last.
///
/// A single rename is atomic, but several are not: a process that is killed between two renames leaves files of two
/// versions. Therefore all new files first get temporary names, which this record lists. The record is complete on
/// disk before the first rename, and the next run of the job performs the missing renames (`InterruptedSet`). The
/// record's name is derived from the last file of the set, as `.name.<attempt>.set`. A lock marks the record of a
/// running process.
struct SetIntent {
    /// A file of the set.
    struct Member: Equatable {
        /// Absolute path of the folder.
        var folder: String
        /// Final name in the folder.
        var name: String
        /// Temporary name in the same folder.
        var part: String
        /// Identity of the new file, as returned by `identity`.
        var new: String
        /// Identity of the file that is replaced; empty if there is none.
        var old: String
    }

    static let suffix = ".set"
    private static let header = "tandem set 1"
    /// Limits of a record, in bytes and files. A larger record is not written; if the process is killed, the set then
    /// can't be completed.
    private static let byteLimit = 64 << 20
    private static let memberLimit = 100_000
    private static let fieldsOfMember = 5

    var members: [Member]

    // MARK: Encoding

    /// Encoded record: fields, each terminated by NUL, which paths can't contain.
    var encoded: [UInt8] {
        let fields =
            [Self.header, "\(members.count)"]
            + members.flatMap { [$0.folder, $0.name, $0.part, $0.new, $0.old] }
        return fields.flatMap { Array($0.utf8) + [0] }
    }

    init(members: [Member]) { self.members = members }

    /// Decodes a record. Returns nil if it is incomplete or invalid. The number of fields is checked before they are
    /// copied.
    init?(decoding bytes: [UInt8]) {
        guard bytes.last == 0, bytes.starts(with: Array(Self.header.utf8) + [0]) else { return nil }
        let fields = bytes.dropLast().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let count = Int(String(decoding: fields[1], as: UTF8.self)), count > 0,
            count <= Self.memberLimit, bytes.count(where: { $0 == 0 }) == 2 + count * Self.fieldsOfMember
        else { return nil }
        let texts = fields[2].split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard texts.count == count * Self.fieldsOfMember else { return nil }
        members = stride(from: 0, to: texts.count, by: Self.fieldsOfMember).map { index in
            Member(
                folder: texts[index], name: texts[index + 1], part: texts[index + 2], new: texts[index + 3],
                old: texts[index + 4])
        }
    }

    // MARK: Writing

    /// Writes the record to disk in the folder of the set's last file, and locks it. Returns nil if the record
    /// exceeds the limits.
    /// - Throws: `SystemError` if the record can't be written. No file remains in that case.
    func write(inFolderOf file: TemporaryFile) throws -> Written? {
        let bytes = encoded
        guard members.count <= Self.memberLimit, bytes.count <= Self.byteLimit else { return nil }
        let name = TemporaryFile.partName(for: file.name, suffix: Self.suffix)
        let unfinished = TemporaryFile.partName(for: file.name)
        let folder = file.directoryDescriptor
        let descriptor = openat(
            folder, unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError("recording the replaced files", errno: errno) }
        flock(descriptor, LOCK_EX | LOCK_NB)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        guard done == bytes.count, fsync(descriptor) == 0, renameat(folder, unfinished, folder, name) == 0,
            fsync(folder) == 0
        else {
            let code = errno
            unlinkat(folder, unfinished, 0)
            unlinkat(folder, name, 0)
            close(descriptor)
            throw SystemError("recording the replaced files", errno: code)
        }
        return Written(folder: folder, name: name, descriptor: descriptor)
    }

    /// A record on disk. `folder` is a descriptor that is owned by the set's last file.
    struct Written {
        let folder: Int32
        let name: String
        let descriptor: Int32

        /// Removes the record. Called after every file has its final name, or after the set was withdrawn.
        func remove() {
            unlinkat(folder, name, 0)
            fsync(folder)
            close(descriptor)
        }
    }

    // MARK: Reading

    /// Reads a record from a descriptor. Returns nil if the file isn't a valid record of this user, or was removed.
    static func read(_ descriptor: Int32) -> SetIntent? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink == 1, status.st_uid == geteuid(),
            let bytes = try? RegularFile.contents(of: descriptor, limit: byteLimit),
            bytes.count == status.st_size
        else { return nil }
        return SetIntent(decoding: bytes)
    }

    /// The kind of file that has a name in a folder.
    enum Occupant: Equatable {
        case nothing
        /// A regular file with its identity.
        case file(String)
        /// A folder, a link or another kind of file.
        case other
    }

    static func occupant(of name: String, in folder: Int32) -> Occupant {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? .nothing : .other
        }
        return status.st_mode & S_IFMT == S_IFREG ? .file(identity(status)) : .other
    }

    /// Returns the identity of a regular file; nil for other files and if there is no file.
    static func identity(of name: String, in folder: Int32) -> String? {
        if case .file(let identity) = occupant(of: name, in: folder) { identity } else { nil }
    }

    /// Returns inode, size and modification time as text.
    static func identity(_ status: stat) -> String {
        "\(status.st_ino) " + TemporaryFile.fingerprint(status)
    }
}
