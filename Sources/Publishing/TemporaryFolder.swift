internal import CLinux
internal import Dispatch
internal import ExactStrings
package import FileSystem
internal import Glibc
internal import Locking
internal import SystemPackage

/// A folder that is complete or absent at its destination: it is filled under a temporary name beside the destination,
/// `.name.<attempt>.part`, and renamed when it is complete and on disk. It replaces an existing folder in one step
/// (`renameat2` with `RENAME_EXCHANGE`).
///
/// A lock marks the folder as in use and distinguishes it from those of killed runs. Not synchronized: used by one
/// thread at a time.
package final class TemporaryFolder: PublishableItem {
    /// Path under which the folder will be published.
    package let destination: String
    package let descriptor: Int32
    private let parent: Int32
    private let name: String
    /// Temporary name; nil once the folder is published or discarded.
    private var partName: String?
    /// Temporary name of the replaced folder; nil if there is none, and after its removal.
    private var replaced: String?
    /// Locked descriptor of the replaced folder. The lock prevents other runs from removing the folder as abandoned.
    private var replacedLock: Int32 = -1
    /// Open subfolders by name.
    private var subfolders: [ExactString: Int32] = [:]
    private var fileCount = 0
    private var knownFingerprint: String?

    package private(set) var isPublished = false
    /// Size of all added files in bytes.
    package private(set) var size: Int64 = 0

    /// Number of files up to which each one is written to disk separately; beyond it, the whole file system is synced
    /// once, which costs less than a journal commit per file.
    private static let separateSyncs = 64

    /// Creates an empty folder beside the destination, whose parent must exist.
    /// - Throws: `SystemError` if it can't be created.
    package init(destination: String, in root: PathRoot) throws {
        let path = FilePath(destination)
        let folder = path.removingLastComponent()
        let directory = folder.isEmpty ? "." : folder.string
        name = path.lastComponent?.string ?? ""
        self.destination = destination
        let parent = root.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw SystemError("opening the folder \(directory)", errno: errno) }
        let part = TemporaryFile.partName(for: name)
        guard mkdirat(parent, part, 0o777) == 0 else {
            let code = errno
            close(parent)
            throw SystemError("creating a folder in \(directory)", errno: code)
        }
        let descriptor = FolderTree.open(part, in: parent)
        guard descriptor >= 0 else {
            let code = errno
            unlinkat(parent, part, AT_REMOVEDIR)
            close(parent)
            throw SystemError("opening a folder in \(directory)", errno: code)
        }
        flock(descriptor, LOCK_EX | LOCK_NB)
        (self.parent, self.descriptor, partName) = (parent, descriptor, part)
    }

    /// Returns the size of all files of a published folder in bytes; 0 if it can't be read.
    package static func size(ofPublished path: String) -> Int64 {
        FolderTree.with(path) { FolderTree.size(of: $0) } ?? 0
    }

    /// Removes a published folder with everything in it. Returns false if something remains.
    package static func remove(_ path: String, in root: PathRoot) -> Bool {
        let path = FilePath(path)
        guard let name = path.lastComponent?.string else { return false }
        let parent = root.open(path.removingLastComponent().string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return false }
        defer { close(parent) }
        return FolderTree.remove(name, in: parent)
    }

    deinit {
        discard()
        for (_, subfolder) in subfolders { close(subfolder) }
        close(descriptor)
        close(parent)
    }

    // MARK: Content

    /// Contents of a file in the folder.
    package enum Content: Sendable {
        case bytes([UInt8])
        /// Part of a temporary file, whose data is shared if the file system supports it.
        case part(TemporaryFile, TemporaryFile.Part)
    }

    /// A file of the folder.
    package struct File: Sendable {
        /// A name, or a subfolder and a name.
        package let path: String
        /// Contents that follow one another.
        package let contents: [Content]

        package init(_ path: String, _ contents: [Content]) { (self.path, self.contents) = (path, contents) }
    }

    /// Creates files. Their contents are written concurrently: on most file systems parts of temporary files are copied by the
    /// processor.
    /// - Throws: `SystemError` if a file exists or can't be written.
    package func add(_ files: [File]) throws {
        guard fileCount + files.count <= FolderTree.entryLimit / 2 else {
            throw SystemError("adding \(files.count) files", errno: EMFILE)
        }
        let locations = try files.map { try location(of: $0.path) }
        let areSynced = fileCount + files.count <= Self.separateSyncs
        let sizes = try DispatchQueue.concurrentMap(throwing: files.count) { index in
            try Self.create(
                files[index], locations[index].name, in: locations[index].folder, syncs: areSynced)
        }
        size += sizes.reduce(0, +)
        fileCount += files.count
    }

    /// Creates a file, and returns its size. `syncs`: whether it is written to disk.
    private static func create(_ new: File, _ name: String, in folder: Int32, syncs: Bool) throws -> Int64 {
        let file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard file >= 0 else { throw SystemError("creating the file \(new.path)", errno: errno) }
        defer { close(file) }
        var end: Int64 = 0
        for content in new.contents {
            switch content {
            case .bytes(let bytes):
                try bytes.withUnsafeBytes { try TemporaryFile.write($0, to: file, at: end) }
                end += Int64(bytes.count)
            case .part(let source, let part): end = try source.copy(part, to: file, at: end)
            }
        }
        guard !syncs || fdatasync(file) == 0 else {
            throw SystemError("writing the file \(new.path)", errno: errno)
        }
        return end
    }

    /// Adds a file of a published folder: a hard link, or a copy on a file system without links.
    /// - Throws: `SystemError` if there is no regular file of that size at the path.
    package func take(_ path: String, of size: Int64, from published: PublishedFolder) throws {
        let (folder, name) = try location(of: path)
        var status = stat()
        guard fstatat(published.descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == size
        else { throw SystemError("taking over the file \(path)", errno: ENOENT) }
        if linkat(published.descriptor, path, folder, name, 0) != 0 {
            guard [EPERM, EMLINK, EOPNOTSUPP, ENOSYS, EXDEV].contains(errno) else {
                throw SystemError("linking the file \(path)", errno: errno)
            }
            let source = openat(published.descriptor, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard source >= 0 else { throw SystemError("opening the file \(path)", errno: errno) }
            let file = TemporaryFile(passed: source)
            return try add([File(path, [.part(file, TemporaryFile.Part(offset: 0, length: size))])])
        }
        self.size += size
        fileCount += 1
    }

    /// Returns the folder of a file, which is created, and the file's name.
    private func location(of path: String) throws -> (folder: Int32, name: String) {
        knownFingerprint = nil
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
            throw SystemError("creating the file \(path)", errno: EINVAL)
        }
        guard parts.count == 2 else { return (descriptor, parts[0]) }
        if let known = subfolders[parts[0].exact] { return (known, parts[1]) }
        guard mkdirat(descriptor, parts[0], 0o777) == 0 else {
            throw SystemError("creating the folder \(parts[0])", errno: errno)
        }
        let folder = FolderTree.open(parts[0], in: descriptor)
        guard folder >= 0 else { throw SystemError("opening the folder \(parts[0])", errno: errno) }
        subfolders[parts[0].exact] = folder
        return (folder, parts[1])
    }

    // MARK: Publishing

    /// Fingerprint of the files so far. The tree is read once after the last file was added.
    package var fingerprint: String {
        if let knownFingerprint { return knownFingerprint }
        let fingerprint = FolderTree.fingerprint(of: descriptor)
        knownFingerprint = fingerprint
        return fingerprint
    }

    package func synchronize() throws {
        if fileCount > Self.separateSyncs, tandem_sync_file_system(descriptor) != 0 {
            throw SystemError("syncing the file system", errno: errno)
        }
        for folder in Array(subfolders.values) + [descriptor] where fsync(folder) != 0 {
            throw SystemError("fsync of the folder", errno: errno)
        }
    }

    package func publish(replacing: Bool, keepsReplaced: Bool) throws {
        guard let part = partName, !isPublished else { return }
        if replacing {
            try exchange(part)
        } else if tandem_renameat2(parent, part, parent, name, 1) != 0 {
            // Network file systems and FUSE often don't support an exclusive rename. `rename` replaces an empty folder
            // only.
            if [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) || FolderTree.isEmpty(name, in: parent) {
                guard renameat(parent, part, parent, name) == 0 else { throw renameError() }
            } else {
                throw renameError()
            }
        }
        (isPublished, partName) = (true, nil)
        guard fsync(parent) == 0 else { throw SystemError("fsync of the folder", errno: errno) }
        if !keepsReplaced { removeReplaced() }
    }

    private func renameError() -> any Error {
        [EEXIST, ENOTEMPTY, ENOTDIR].contains(errno)
            ? PublishingError.destinationExists : SystemError("renaming the folder", errno: errno)
    }

    /// Exchanges the folder with the one at the destination, which gets the temporary name.
    private func exchange(_ part: String) throws {
        replacedLock = FolderTree.open(name, in: parent)
        guard replacedLock >= 0 else {
            guard errno == ENOENT else { throw SystemError("opening the replaced folder", errno: errno) }
            // It was removed in the meantime.
            guard renameat(parent, part, parent, name) == 0 else { throw renameError() }
            return
        }
        flock(replacedLock, LOCK_SH | LOCK_NB)
        if tandem_exchange(parent, part, name) == 0 {
            replaced = part
            return
        }
        guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else {
            throw SystemError("exchanging the folders", errno: errno)
        }
        // Without an atomic exchange, the destination is absent between two renames. If the process is killed there,
        // the next run gives the old folder its name back.
        let kept = TemporaryFile.partName(for: name, suffix: TemporaryFile.asideSuffix)
        guard renameat(parent, name, parent, kept) == 0 else {
            throw SystemError("keeping the replaced folder", errno: errno)
        }
        guard renameat(parent, part, parent, name) == 0 else {
            let error = renameError()
            renameat(parent, kept, parent, name)
            throw error
        }
        replaced = kept
    }

    package func withdraw() {
        guard isPublished, isAt(name, in: parent) else { return }
        let part = TemporaryFile.partName(for: name)
        if let replaced {
            if tandem_exchange(parent, replaced, name) == 0 {
                partName = replaced
            } else if renameat(parent, name, parent, part) == 0 {
                partName = part
                guard renameat(parent, replaced, parent, name) == 0 else { return }
            } else {
                return
            }
        } else {
            guard renameat(parent, name, parent, part) == 0 else { return }
            partName = part
        }
        (isPublished, replaced) = (false, nil)
        unlockReplaced()
        fsync(parent)
        discard()
    }

    package func removeReplaced() {
        unlockReplaced()
        if let replaced { FolderTree.remove(replaced, in: parent) }
        replaced = nil
    }

    private func unlockReplaced() {
        if replacedLock >= 0 { close(replacedLock) }
        replacedLock = -1
    }

    package func discard() {
        guard !isPublished else { return removeReplaced() }
        if let partName { FolderTree.remove(partName, in: parent) }
        partName = nil
        unlockReplaced()
    }
}
