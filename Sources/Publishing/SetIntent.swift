internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc

/// The record of a set of files that is about to be replaced, from before the first rename until after the last.
///
/// A rename is atomic, several are not: a process that is killed between two of them leaves files of two versions. So all
/// new files get a temporary name first, and this record lists them. It is complete on disk before the first rename, and
/// `completeInterrupted` carries out the renames that are missing. The record stands beside the last file of the set,
/// as `.name.<attempt>.set`; a lock marks the record of a process that is alive.
///
/// A record can come from anyone who can write to the folder. It is followed only if it names files that the caller
/// expects in folders that the caller expects, and if inode, size and modification time of every file are as
/// recorded; no copy of a tree, archive or repository has the same inodes.
struct SetIntent {
    /// A file of the set.
    struct Member: Equatable {
        /// Absolute path of the folder.
        var folder: String
        /// Final name of the file.
        var name: String
        /// Temporary name of the file in the same folder.
        var part: String
        /// Identity of the new file.
        var new: String
        /// Identity of the file to replace; empty if there is none.
        var old: String
    }

    static let suffix = ".set"
    private static let header = "tandem set 1"
    /// Maximum size of a record in bytes: 100,000 files with names and folders of usual lengths.
    private static let byteLimit = 64 << 20

    var members: [Member]

    // MARK: Encoding

    /// The record as fields that end with NUL, which no path contains.
    var encoded: [UInt8] {
        let fields =
            [Self.header, "\(members.count)"]
            + members.flatMap { [$0.folder, $0.name, $0.part, $0.new, $0.old] }
        return fields.flatMap { Array($0.utf8) + [0] }
    }

    init(members: [Member]) { self.members = members }

    /// Decodes a record. Nil unless it is complete.
    init?(decoding bytes: [UInt8]) {
        guard bytes.last == 0 else { return nil }
        let fields = bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard fields.count >= 2, fields[0] == Self.header, let count = Int(fields[1]), count > 0,
            fields.count - 2 == count.multipliedReportingOverflow(by: 5).partialValue
        else { return nil }
        members = stride(from: 2, to: fields.count, by: 5).map { index in
            Member(
                folder: fields[index], name: fields[index + 1], part: fields[index + 2],
                new: fields[index + 3],
                old: fields[index + 4])
        }
    }

    // MARK: Writing

    /// Writes the record to disk, locked, in the folder of its last file.
    /// - Throws: `SystemError` if it can't be written; no file is left then.
    func write(beside file: TemporaryFile) throws -> Written {
        let name = TemporaryFile.partName(for: file.name, suffix: Self.suffix)
        let unfinished = TemporaryFile.partName(for: file.name)
        let folder = file.directoryDescriptor
        let descriptor = openat(folder, unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError("recording what is replaced", errno: errno) }
        flock(descriptor, LOCK_EX | LOCK_NB)
        let bytes = encoded
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
            throw SystemError("recording what is replaced", errno: code)
        }
        return Written(folder: folder, name: name, descriptor: descriptor)
    }

    /// A record on disk. The folder's descriptor belongs to the file beside which it was written.
    struct Written {
        let folder: Int32
        let name: String
        let descriptor: Int32

        /// Removes the record: every file has its name, or none of them is to get it any more.
        func remove() {
            unlinkat(folder, name, 0)
            fsync(folder)
            close(descriptor)
        }
    }

    // MARK: Completing

    /// Carries out the renames that a killed process had begun. `names` are the files that are expected in each folder.
    /// Returns the number of sets that were completed.
    static func completeInterrupted(_ names: [ExactString: Set<String>], in root: PathRoot) -> Int {
        var completed = 0
        for (folder, expected) in names {
            let descriptor = root.open(folder.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            let stems = Set(expected.map(TemporaryFile.stem))
            for name in TemporaryFile.entries(of: descriptor) {
                guard let part = TemporaryFile.PartName(name, suffix: suffix), stems.contains(part.stem)
                else { continue }
                if complete(name, in: descriptor, names, root) { completed += 1 }
            }
        }
        return completed
    }

    private static func complete(
        _ name: String, in folder: Int32, _ names: [ExactString: Set<String>], _ root: PathRoot
    ) -> Bool {
        let descriptor = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        let isComplete = read(descriptor).flatMap(SetIntent.init(decoding:))?.complete(names, root) ?? false
        // A set that can't be completed is created again. Its parts are removed like those of any other killed run.
        unlinkat(folder, name, 0)
        return isComplete
    }

    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= byteLimit
        else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + done, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            done += count
        }
        return bytes
    }

    /// Renames all files that don't have their final name yet, or none.
    private func complete(_ names: [ExactString: Set<String>], _ root: PathRoot) -> Bool {
        var folders: [ExactString: Int32] = [:]
        defer { for descriptor in folders.values { close(descriptor) } }
        var missing: [(folder: Int32, part: String, name: String)] = []
        for member in members {
            let key = member.folder.exact
            guard names[key]?.contains(member.name) == true,
                TemporaryFile.PartName(member.part, suffix: TemporaryFile.partSuffix)?.stem
                    == TemporaryFile.stem(member.name)
            else { return false }
            if folders[key] == nil {
                let opened = root.open(member.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard opened >= 0 else { return false }
                folders[key] = opened
            }
            let folder = folders[key]!
            let present = Self.identity(of: member.name, in: folder)
            if present == member.new { continue }
            // On file systems without links, the replaced file has another name for a moment.
            guard present == nil || present == member.old,
                Self.identity(of: member.part, in: folder) == member.new
            else { return false }
            missing.append((folder, member.part, member.name))
        }
        for (folder, part, name) in missing where renameat(folder, part, folder, name) != 0 { return false }
        for descriptor in folders.values { fsync(descriptor) }
        return true
    }

    /// Returns inode, size and modification time of a regular file; nil if there is none.
    static func identity(of name: String, in folder: Int32) -> String? {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else {
            return nil
        }
        return "\(status.st_ino) " + TemporaryFile.fingerprint(status)
    }
}
