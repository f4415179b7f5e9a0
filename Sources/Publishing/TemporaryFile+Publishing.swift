internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import Locking

/// Publishing of files, and withdrawal of published files.
extension TemporaryFile {
    /// Publishes all items in the order of the array, or none, and returns the indices of the published ones.
    /// `publish` publishes the item at an index, and returns false if that is no longer necessary. Replaced items are
    /// kept until all are published. If one can't be published, the others are withdrawn and the error is thrown. If the
    /// process is killed during the call, a record remains, from which the next run publishes the remaining files
    /// (`InterruptedSet`).
    package static func publishTogether(
        _ items: [any PublishableItem], _ publish: (_ index: Int, _ keepsReplaced: Bool) throws -> Bool
    ) throws -> [Int] {
        // A folder is published after the files; a kill in between leaves complete outputs, of which the next run
        // creates the missing ones.
        let files = items.compactMap { $0 as? TemporaryFile }
        let record = try recordReplacement(by: files)
        do {
            let published = try items.indices.filter { try publish($0, items.count > 1) }
            record?.remove()
            for index in published { items[index].removeReplaced() }
            return published
        } catch {
            // The failed item may already have its final name.
            for item in items.reversed() { item.withdraw() }
            record?.remove()
            throw error
        }
    }

    /// Links all files under temporary names and writes a record, if there are several files and at least one of them
    /// replaces another file.
    private static func recordReplacement(by files: [TemporaryFile]) throws -> SetIntent.Written? {
        guard files.count > 1, let last = files.last else { return nil }
        let replaced = files.map { SetIntent.identity(of: $0.name, in: $0.directoryDescriptor) }
        guard replaced.contains(where: { $0 != nil }) else { return nil }
        var members: [SetIntent.Member] = []
        for (file, old) in zip(files, replaced) {
            let part = try file.assignTemporaryName()
            guard let new = SetIntent.identity(of: part, in: file.directoryDescriptor) else {
                throw SystemError("recording the replaced files", errno: ENOENT)
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
        return try SetIntent(members: members).write(inFolderOf: last)
    }

    /// Returns the file's temporary name. A file without a name is linked first.
    private func assignTemporaryName() throws -> String {
        try state.withLock { state in
            if let part = state.partName { return part }
            guard directoryDescriptor >= 0 else { throw PublishingError.ownedByOtherProcess }
            let part = Self.partName(for: name)
            try link(as: part)
            state.partName = part
            return part
        }
    }

    /// Links or renames the file to its final name atomically, and syncs the folder to disk. The data must be on disk
    /// already. Without `replacing`, throws if a file exists. With `keepsReplaced`, the replaced file is kept for
    /// `withdraw` until `removeReplaced`.
    package func publish(replacing: Bool, keepsReplaced: Bool = false) throws {
        try publish(as: name, replacing: replacing, keepsReplaced: keepsReplaced)
    }

    /// Publishes the file under another name in the destination's folder.
    package func publish(as name: String, replacing: Bool, keepsReplaced: Bool = false) throws {
        try state.withLock { state in
            guard !state.isPublished else { return }
            guard directoryDescriptor >= 0 else {
                throw PublishingError.ownedByOtherProcess
            }
            if replacing, keepsReplaced { try keep(name, &state) }
            do {
                try assignName(name, replacing, &state)
            } catch {
                if state.isReplacedMoved, let replaced = state.replaced,
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

    private func assignName(_ name: String, _ replacing: Bool, _ state: inout State) throws {
        if let part = state.partName {
            try move(part, to: name, replacing: replacing)
        } else if !replacing {
            try link(as: name)
        } else {
            // Linking can't replace a file. Therefore the new file gets a temporary name first, which is then
            // renamed.
            let part = Self.partName(for: name)
            try link(as: part)
            state.partName = part
            try move(part, to: name, replacing: true)
        }
        state.partName = nil
    }

    /// Links a file that is about to be replaced under a temporary name. On a file system without hard links, the
    /// file is renamed instead; if the run is killed then, `removeAbandonedParts` restores the original name.
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
            (state.replaced, state.isReplacedMoved) = (kept, true)
        } else if errno != ENOENT {
            throw SystemError("keeping the replaced file", errno: errno)
        }
    }

    /// Withdraws a published file if it still has its final name: restores the replaced file, or removes the name.
    package func withdraw() {
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

    /// Removes the replaced file, after which `withdraw` can't restore it.
    package func removeReplaced() {
        state.withLock { state in
            // The lock is released first: FUSE file systems keep an open file under a hidden name when its name is
            // removed.
            state.unlock()
            if let replaced = state.replaced { unlinkat(directoryDescriptor, replaced, 0) }
            state.replaced = nil
        }
    }

    /// Removes an unpublished file, and truncates it to free its space even if a worker still has it open.
    package func discard() {
        state.withLock { state in
            // A replaced file that couldn't be restored remains for the next run.
            let replaced = state.isReplacedMoved && !state.isPublished ? nil : state.replaced
            for part in [state.partName, replaced].compactMap({ $0 }) {
                unlinkat(directoryDescriptor, part, 0)
            }
            (state.partName, state.replaced) = (nil, nil)
            state.unlock()
            guard directoryDescriptor >= 0, !state.isPublished else { return }
            var status = stat()
            // A file that still has a name must not be truncated.
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
        // Network file systems and FUSE often don't support an exclusive rename.
        if !replacing, [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) {
            return try moveWithoutFlags(part, to: name)
        }
        if errno == EEXIST { throw PublishingError.destinationExists }
        throw SystemError("renaming the file", errno: errno)
    }

    /// Renames a file without replacing another one. Linking fails if the name exists. Without hard links, the name
    /// is checked before the rename, which replaces a file that is created in between. Reserving the name with an
    /// empty file isn't an alternative: a partial output would remain if the process were killed.
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
