internal import Glibc

/// The files beneath a folder, without following links.
enum FolderTree {
    /// Maximum number of entries that `fingerprint` reads, and maximum depth of folders.
    static let entryLimit = 1_000_000
    private static let depthLimit = 16

    /// Returns a text that changes with the name, size or modification time of any file beneath a folder, as
    /// `TemporaryFile.fingerprint` does for a file. Its cost is one `fstatat` per entry. A folder that exceeds the limits
    /// has a fingerprint that no published folder has.
    static func fingerprint(of folder: Int32) -> String {
        var state = Walk()
        guard state.visit(folder, prefix: "", depth: 0) else { return "folder-unknown" }
        // The order in which a folder lists its entries is not defined.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for line in state.lines.sorted() {
            for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0x0a) &* 0x100_0000_01b3
        }
        return "folder-\(state.lines.count)-\(state.size)-\(String(hash, radix: 16))"
    }

    /// Returns the sum of the sizes of all files beneath a folder, in bytes; 0 if it exceeds the limits.
    static func size(of folder: Int32) -> Int64 {
        var state = Walk()
        return state.visit(folder, prefix: "", depth: 0) ? state.size : 0
    }

    /// Returns the descriptor of a folder that isn't a link, which the caller closes; negative if there is none.
    static func open(_ path: String, in folder: Int32 = AT_FDCWD) -> Int32 {
        openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    }

    /// Returns whether a path leads to a folder without entries.
    static func isEmpty(_ path: String, in folder: Int32 = AT_FDCWD) -> Bool {
        with(path, in: folder) { names(in: $0)?.isEmpty } == true
    }

    /// Calls `body` with the folder at a path; returns nil if there is none.
    static func with<Value>(_ path: String, in folder: Int32 = AT_FDCWD, _ body: (Int32) -> Value?) -> Value?
    {
        let own = open(path, in: folder)
        guard own >= 0 else { return nil }
        defer { close(own) }
        return body(own)
    }

    /// Removes an entry of a folder, with everything beneath it. Links are removed, not followed.
    /// Returns false if something couldn't be removed.
    @discardableResult
    static func remove(_ name: String, in folder: Int32, depth: Int = 0) -> Bool {
        if unlinkat(folder, name, 0) == 0 { return true }
        guard errno == EISDIR || errno == EPERM, depth < depthLimit else { return errno == ENOENT }
        let own = open(name, in: folder)
        guard own >= 0 else { return false }
        defer { close(own) }
        for child in names(in: own) ?? [] { remove(child, in: own, depth: depth + 1) }
        return unlinkat(folder, name, AT_REMOVEDIR) == 0
    }

    private struct Walk {
        var lines: [String] = []
        var size: Int64 = 0

        /// Collects the entries of a folder; returns false if they can't be read or exceed the limits.
        mutating func visit(_ folder: Int32, prefix: String, depth: Int) -> Bool {
            guard depth < FolderTree.depthLimit, let names = FolderTree.names(in: folder) else {
                return false
            }
            for name in names {
                var status = stat()
                guard lines.count < FolderTree.entryLimit,
                    fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                else { return false }
                let path = prefix + name
                if status.st_mode & S_IFMT == S_IFDIR {
                    lines.append(path + "/")
                    let own = FolderTree.open(name, in: folder)
                    guard own >= 0 else { return false }
                    defer { close(own) }
                    guard visit(own, prefix: path + "/", depth: depth + 1) else { return false }
                } else {
                    let kind = status.st_mode & S_IFMT == S_IFREG ? "" : " \(status.st_mode & S_IFMT)"
                    lines.append("\(path) \(TemporaryFile.fingerprint(status))\(kind)")
                    size = size.addingReportingOverflow(Int64(status.st_size)).partialValue
                }
            }
            return true
        }
    }

    /// Returns the names in a folder without `.` and `..`; nil if it can't be read.
    static func names(in folder: Int32) -> [String]? {
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return nil }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return nil
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream), names.count <= entryLimit {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
