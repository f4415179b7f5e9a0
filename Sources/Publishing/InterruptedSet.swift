package import ExactStrings
package import FileSystem
internal import Glibc

/// A set of files whose process was killed after it recorded the set, and before all files had their final names.
///
/// The record may come from anyone who can write to the folder and is therefore untrusted. The caller compares the
/// marks of the finished files with its own plan, applies its rules about replacing files, and completes or discards
/// the set. A file gets its final name only if it is a regular file of this user, isn't being written, and has the
/// recorded inode, size and modification time.
package final class InterruptedSet {
    /// A file of the set without its final name.
    package struct Missing {
        /// Absolute path of the destination.
        package let destination: String
        /// Absolute path of the finished file.
        package let part: String
        fileprivate let member: SetIntent.Member
    }

    /// Absolute paths of all files of the set.
    package let destinations: [String]
    private let intent: SetIntent
    private let folder: Int32
    private let name: String
    private let record: Int32
    private let root: PathRoot

    private init(_ intent: SetIntent, folder: Int32, name: String, record: Int32, root: PathRoot) {
        self.intent = intent
        self.folder = folder
        self.name = name
        self.record = record
        self.root = root
        destinations = intent.members.map { Self.path($0.folder, $0.name) }
    }

    deinit {
        close(record)
        close(folder)
    }

    private static func path(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    /// Returns the sets whose records are in a folder, and locks the records. `names` are the final names of the
    /// outputs in the folder.
    package static func find(
        in folder: String, of names: Set<ExactString>, beneath root: PathRoot
    ) -> [InterruptedSet] {
        let descriptor = root.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let entries = TemporaryFile.entries(of: descriptor).filter { $0.hasSuffix(SetIntent.suffix) }
        guard !entries.isEmpty else { return [] }
        let stems = Set(names.map { TemporaryFile.stem($0.text).exact })
        return entries.compactMap { name in
            guard let part = TemporaryFile.PartName(name, suffix: SetIntent.suffix),
                stems.contains(part.stem.exact)
            else { return nil }
            let record = openat(descriptor, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard record >= 0 else { return nil }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            // The record is locked before it is read: a process that has just removed the record leaves a file
            // without links.
            guard copy >= 0, flock(record, LOCK_EX | LOCK_NB) == 0, let intent = SetIntent.read(record) else {
                close(record)
                if copy >= 0 { close(copy) }
                return nil
            }
            return InterruptedSet(intent, folder: copy, name: name, record: record, root: root)
        }
    }

    /// Returns the files that don't have their final names yet; nil if the set can't be completed, because a file is
    /// missing or differs from the record.
    package func missing() -> [Missing]? {
        var missing: [Missing] = []
        for member in intent.members {
            guard !member.name.contains("/"), !member.name.isEmpty,
                TemporaryFile.PartName(member.part, suffix: TemporaryFile.partSuffix)?.stem
                    == TemporaryFile.stem(member.name), !member.part.contains("/")
            else { return nil }
            let folder = root.open(member.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { return nil }
            defer { close(folder) }
            switch SetIntent.occupant(of: member.name, in: folder) {
            case .file(member.new): continue
            // On a file system without hard links, the replaced file temporarily has another name.
            case .file(member.old), .nothing: break
            case .file, .other: return nil
            }
            guard Self.isFinished(member, in: folder) else { return nil }
            missing.append(
                Missing(
                    destination: Self.path(member.folder, member.name),
                    part: Self.path(member.folder, member.part), member: member))
        }
        return missing
    }

    /// Returns whether a finished file equals its record, is owned by this user, and isn't locked.
    private static func isFinished(_ member: SetIntent.Member, in folder: Int32) -> Bool {
        let file = openat(folder, member.part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        return fstat(file, &status) == 0 && status.st_uid == geteuid()
            && SetIntent.identity(status) == member.new && flock(file, LOCK_SH | LOCK_NB) == 0
    }

    /// Renames the missing files to their final names and removes the record. If a rename fails, the record remains
    /// for
    /// the next run.
    /// - Throws: `SystemError` if a rename fails.
    package func complete(_ missing: [Missing]) throws {
        for file in missing {
            let folder = root.open(file.member.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw SystemError("completing a set of files", errno: errno) }
            defer { close(folder) }
            guard renameat(folder, file.member.part, folder, file.member.name) == 0, fsync(folder) == 0 else {
                throw SystemError("completing a set of files", errno: errno)
            }
        }
        discard()
    }

    /// Removes the record, so that the set can't be completed. Its finished files are later removed as abandoned
    /// temporary files.
    package func discard() { unlinkat(folder, name, 0) }
}
