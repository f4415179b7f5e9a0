internal import CLinux
package import ExactStrings
package import FileSystem
internal import Glibc
internal import Locking

/// How it gets its name, and gives it back.
extension TemporaryFile {
    /// Publishes several files, all or none, in their order: an index comes last. `publish` publishes the file at an index,
    /// and returns false where that isn't necessary any more. What is replaced is kept until all files are there; where one
    /// can't be published, the others are withdrawn and the error is thrown. A process that is killed in between leaves
    /// a record, by which `completeInterrupted` publishes the rest. Returns the indices of the published files.
    package static func publishTogether(
        _ files: [TemporaryFile], _ publish: (_ index: Int, _ keepsReplaced: Bool) throws -> Bool
    ) throws -> [Int] {
        let record = try recordReplacement(by: files)
        do {
            let published = try files.indices.filter { try publish($0, files.count > 1) }
            record?.remove()
            for index in published { files[index].forgetReplaced() }
            return published
        } catch {
            record?.remove()
            // The one that failed may have had its name already.
            for file in files.reversed() { file.withdraw() }
            throw error
        }
    }

    /// Carries out the renames of sets whose process was killed between two of them. `names` are the files that are expected
    /// in each folder. Call it before `collectDeadParts`, which removes what it needs. Returns the number of sets that are
    /// complete now.
    @discardableResult
    package static func completeInterrupted(_ names: [ExactString: Set<String>], in root: PathRoot) -> Int {
        SetIntent.completeInterrupted(names, in: root)
    }

    /// Gives all files temporary names and records them, where at least one of several replaces another file.
    private static func recordReplacement(by files: [TemporaryFile]) throws -> SetIntent.Written? {
        guard files.count > 1, let last = files.last else { return nil }
        let replaced = files.map { SetIntent.identity(of: $0.name, in: $0.directoryDescriptor) }
        guard replaced.contains(where: { $0 != nil }) else { return nil }
        var members: [SetIntent.Member] = []
        for (file, old) in zip(files, replaced) {
            let part = try file.takeTemporaryName()
            guard let new = SetIntent.identity(of: part, in: file.directoryDescriptor) else {
                throw SystemError("recording what is replaced", errno: ENOENT)
            }
            members.append(
                SetIntent.Member(
                    folder: file.directory, name: file.name, part: part, new: new, old: old ?? ""))
        }
        for folder in Dictionary(
            files.map { ($0.directory.exact, $0) }, uniquingKeysWith: { first, _ in first }
        ).values {
            guard fsync(folder.directoryDescriptor) == 0 else {
                throw SystemError("fsync of the folder", errno: errno)
            }
        }
        return try SetIntent(members: members).write(beside: last)
    }

    /// Links the file under a temporary name, unless it has one, and returns the name.
    private func takeTemporaryName() throws -> String {
        try state.withLock { state in
            if let part = state.partName { return part }
            guard directoryDescriptor >= 0 else { throw PublishingError.lent }
            let part = Self.partName(for: name)
            try link(as: part)
            state.partName = part
            return part
        }
    }

    /// Makes the file visible at its destination, all at once, and brings the folder to disk. The data must
    /// be on disk already. Without `replacing`, a file that is there is left alone and the call fails.
    /// `keepsReplaced` keeps what is replaced for `withdraw`, until `forgetReplaced`.
    package func publish(replacing: Bool, keepsReplaced: Bool = false) throws {
        try publish(as: name, replacing: replacing, keepsReplaced: keepsReplaced)
    }

    /// The same under another name in the destination's folder.
    package func publish(as name: String, replacing: Bool, keepsReplaced: Bool = false) throws {
        try state.withLock { state in
            guard !state.isPublished else { return }
            guard directoryDescriptor >= 0 else {
                throw PublishingError.lent
            }
            if replacing, keepsReplaced { try keep(name, &state) }
            do {
                try takeName(name, replacing, &state)
            } catch {
                if state.isAside, let replaced = state.replaced,
                    renameat(directoryDescriptor, replaced, directoryDescriptor, name) == 0
                {
                    state.replaced = nil
                }
                throw error
            }
            state.isPublished = true
            state.publishedName = name
            state.hasReplaced = replacing
        }
        guard fsync(directoryDescriptor) == 0 else {
            throw SystemError("fsync of the folder", errno: errno)
        }
    }

    private func takeName(_ name: String, _ replacing: Bool, _ state: inout State) throws {
        if let part = state.partName {
            try move(part, to: name, replacing: replacing)
        } else if !replacing {
            try link(as: name)
        } else {
            // A link can't replace: the file gets a temporary name first, which is renamed.
            let part = Self.partName(for: name)
            try link(as: part)
            state.partName = part
            try move(part, to: name, replacing: true)
        }
        state.partName = nil
    }

    /// Gives what is about to be replaced another name; where the file system has no links, that is its only one for the
    /// moment, so a run that dies there leaves it to `collectDeadParts` to bring back.
    private func keep(_ name: String, _ state: inout State) throws {
        let lock = openat(directoryDescriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if lock >= 0 { flock(lock, LOCK_SH | LOCK_NB) }
        state.replacedLock = lock
        let part = Self.partName(for: name)
        if linkat(directoryDescriptor, name, directoryDescriptor, part, 0) == 0 {
            state.replaced = part
            return
        }
        let kept = Self.partName(for: name, suffix: Self.asideSuffix)
        if renameat(directoryDescriptor, name, directoryDescriptor, kept) == 0 {
            (state.replaced, state.isAside) = (kept, true)
        } else if errno != ENOENT {
            throw SystemError("keeping what is replaced", errno: errno)
        }
    }

    /// Takes back its name, as far as it still has it: what it replaced is there again, or nothing.
    func withdraw() {
        state.withLock { state in
            var (own, other) = (stat(), stat())
            guard state.isPublished, let name = state.publishedName, fstat(descriptor, &own) == 0,
                fstatat(directoryDescriptor, name, &other, AT_SYMLINK_NOFOLLOW) == 0,
                own.st_ino == other.st_ino, own.st_dev == other.st_dev
            else { return }
            let isBack =
                if let replaced = state.replaced {
                    renameat(directoryDescriptor, replaced, directoryDescriptor, name) == 0
                } else {
                    !state.hasReplaced && unlinkat(directoryDescriptor, name, 0) == 0
                }
            if isBack { (state.isPublished, state.replaced) = (false, nil) }
            state.unlock()
        }
        fsync(directoryDescriptor)
    }

    /// What it replaced is of no use any more.
    func forgetReplaced() {
        state.withLock { state in
            // First the lock: what is open while its name goes is a hidden file where file systems are in user space.
            state.unlock()
            if let replaced = state.replaced { unlinkat(directoryDescriptor, replaced, 0) }
            state.replaced = nil
        }
    }

    /// Removes what is not published, and gives its room back: a worker may hold the file open for a moment longer.
    package func discard() {
        state.withLock { state in
            // What couldn't be brought back is left for the next run, which tries it again.
            let replaced = state.isAside && !state.isPublished ? nil : state.replaced
            for part in [state.partName, replaced].compactMap({ $0 }) {
                unlinkat(directoryDescriptor, part, 0)
            }
            (state.partName, state.replaced) = (nil, nil)
            state.unlock()
            guard directoryDescriptor >= 0, !state.isPublished else { return }
            var status = stat()
            // Whatever anybody can reach by a name stays as it is.
            if fstat(descriptor, &status) == 0, status.st_nlink == 0 { ftruncate(descriptor, 0) }
        }
    }

    private func link(as name: String) throws {
        guard linkat(AT_FDCWD, reopenPath, directoryDescriptor, name, AT_SYMLINK_FOLLOW) == 0 else {
            if errno == EEXIST { throw PublishingError.destinationExists }
            throw SystemError("linking the file", errno: errno)
        }
    }

    private func move(_ part: String, to name: String, replacing: Bool) throws {
        if tandem_renameat2(directoryDescriptor, part, directoryDescriptor, name, replacing ? 0 : 1) == 0 {
            return
        }
        // Network and user-space file systems know no renaming that refuses to replace.
        if !replacing, [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) {
            return try moveWithoutFlags(part, to: name)
        }
        if errno == EEXIST { throw PublishingError.destinationExists }
        throw SystemError("renaming the file", errno: errno)
    }

    /// A link refuses a name that is taken, too; where there are no links either, the name is looked for, and who takes
    /// it between the look and the renaming is replaced: an empty file that holds the name would be a partial output
    /// if the run died there.
    private func moveWithoutFlags(_ part: String, to name: String) throws {
        if linkat(directoryDescriptor, part, directoryDescriptor, name, 0) == 0 {
            unlinkat(directoryDescriptor, part, 0)
            return
        }
        if errno == EEXIST { throw PublishingError.destinationExists }
        guard [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(errno) else {
            throw SystemError("linking the file", errno: errno)
        }
        var status = stat()
        if fstatat(directoryDescriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            throw PublishingError.destinationExists
        }
        guard errno == ENOENT, renameat(directoryDescriptor, part, directoryDescriptor, name) == 0 else {
            throw SystemError("renaming the file", errno: errno)
        }
    }
}
