internal import ExactStrings
package import FileSystem
internal import FoundationEssentials
internal import Glibc
internal import LibAV
internal import Locking
internal import JobPlan
package import PlanWork
package import Publishing

/// A folder with outputs and probes of earlier runs, by keys that contain no path. Runs on several machines may share it, at
/// the same time.
///
/// The folder is outside input: each entry is complete, of the right key and undamaged, or it isn't used. Entries have no
/// dependencies on each other, so that any of them may be removed at any time. Their bytes are not synced to disk; an entry
/// that a crash has truncated isn't used.
package final class ContentCache: Sendable {
    /// The access to the folder.
    package enum Mode: String, Codable, Sendable, CaseIterable {
        /// Entries are used. Nothing is written.
        case read
        /// Entries are used, stored, replaced and removed.
        case readWrite = "read-write"
    }

    /// The number of outputs in a run, by what the cache did.
    package struct Tally: Hashable, Sendable {
        /// Outputs that were taken from the cache.
        package var used = 0
        /// Outputs and probes that were stored.
        package var stored = 0
        /// Entries that were damaged, or whose output failed its verification.
        package var refused = 0
        /// Reason why an entry couldn't be opened or written; nil if all could.
        package var problem: String?
    }

    private struct State: Sendable {
        var tally = Tally()
        /// Whether the disk is full or can't be written, so that nothing more is stored.
        var hasFailed = false
        /// Bytes that were stored since the cache was last reduced to its limit.
        var unreducedBytes: Int64 = 0
        var isReducing = false
    }

    private let folder: String
    private let mode: Mode
    /// Maximum size of all entries in bytes. A larger output is neither stored nor taken.
    private let limit: Int64
    private let state = Guarded(State())

    /// Opens a cache, and creates its folder if the cache may be written.
    /// - Throws: `SystemError` if the folder can't be created or isn't a folder.
    package init(path: String, mode: Mode, limit: Int64) throws(SystemError) {
        folder = RealPath.absolute(path) + "/v1"
        (self.mode, self.limit) = (mode, limit)
        if mode == .readWrite { try Self.createFolder(folder) }
        var status = stat()
        guard stat(folder, &status) == 0 else {
            // A cache that doesn't exist yet is empty.
            guard mode == .read, errno == ENOENT else {
                throw SystemError("opening the cache \(path)", errno: errno)
            }
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemError("opening the cache \(path)", errno: ENOTDIR)
        }
    }

    /// Whether entries are stored.
    package var isWritable: Bool { mode == .readWrite && !state.withLock { $0.hasFailed } }

    package var tally: Tally { state.withLock { $0.tally } }

    // MARK: Use

    /// Copies an output from the cache into an empty file, and returns the findings on it; nil if the cache lacks it. A
    /// damaged entry is removed.
    package func fetch(
        _ key: CacheKey, into file: TemporaryFile, isCancelled: () -> Bool
    ) -> OutputFindings? {
        guard let opened = open(key, as: OutputFindings.self) else { return nil }
        let (entry, descriptor, offset) = opened
        defer { close(descriptor) }
        guard entry.size > 0 else {
            refuse(key)
            return nil
        }
        guard entry.size <= limit else { return nil }
        let digest = try? Self.copy(
            from: descriptor, at: offset, count: entry.size, to: file.descriptor, at: 0,
            isCancelled: isCancelled)
        guard let digest else {
            // The destination's file system may be full; the entry isn't at fault.
            file.empty()
            return nil
        }
        guard digest == entry.digest else {
            file.empty()
            refuse(key)
            return nil
        }
        noteUse(descriptor)
        return entry.content
    }

    /// Returns the result of a probe; nil if the cache lacks it.
    package func result<Value: Codable & Sendable>(_ key: CacheKey, as type: Value.Type) -> Value? {
        guard let (entry, descriptor, _) = open(key, as: type) else { return nil }
        defer { close(descriptor) }
        noteUse(descriptor)
        return entry.content
    }

    /// Opens an entry for reading. A damaged one is removed.
    private func open<Content: Codable & Sendable>(
        _ key: CacheKey, as type: Content.Type
    ) -> (entry: CacheEntry<Content>, descriptor: Int32, offset: Int64)? {
        let descriptor = Glibc.open(location(of: key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if ![ENOENT, ELOOP, ENXIO].contains(errno) {
                note(SystemError("opening \(location(of: key))", errno: errno))
            }
            return nil
        }
        guard let (entry, offset) = CacheEntry<Content>.read(from: descriptor, as: key) else {
            close(descriptor)
            refuse(key)
            return nil
        }
        return (entry, descriptor, offset)
    }

    /// Keeps the first problem, which the run reports.
    private func note(_ error: any Error) {
        state.withLock { $0.tally.problem = $0.tally.problem ?? "\(error)" }
    }

    /// Sets the time of an entry's last use, which decides which entries are removed first.
    private func noteUse(_ descriptor: Int32) {
        if mode == .readWrite { futimens(descriptor, nil) }
    }

    /// Counts outputs that passed their verification after `fetch`.
    package func used(_ count: Int) { state.withLock { $0.tally.used += count } }

    /// Counts an entry that can't be used, and removes it.
    package func refuse(_ key: CacheKey) {
        state.withLock { $0.tally.refused += 1 }
        guard mode == .readWrite else { return }
        let path = location(of: key)
        if unlink(path) != 0, errno == EISDIR { rmdir(path) }
    }

    // MARK: Storing

    /// Stores a complete output, unless the folder can't be written.
    package func store(
        _ key: CacheKey, _ findings: OutputFindings, from file: TemporaryFile, isCancelled: () -> Bool
    ) {
        guard file.size > 0, file.size <= limit else { return }
        var findings = findings
        findings.preview = nil
        storing { try write(key, findings, from: file, isCancelled: isCancelled) }
    }

    /// Stores the result of a probe, unless the folder can't be written.
    package func store(_ key: CacheKey, _ result: some Codable & Sendable) {
        storing { try write(key, result, from: nil, isCancelled: { false }) }
    }

    private func storing(_ write: () throws -> Void) {
        guard isWritable else { return }
        do {
            try write()
            state.withLock { $0.tally.stored += 1 }
        } catch is CancellationError {
            return
        } catch {
            if let code = (error as? SystemError)?.errnoValue, [ENOSPC, EDQUOT, EROFS].contains(code) {
                state.withLock { $0.hasFailed = true }
            }
            note(error)
        }
    }

    private func write(
        _ key: CacheKey, _ content: some Codable & Sendable, from file: TemporaryFile?,
        isCancelled: () -> Bool
    ) throws {
        let location = location(of: key)
        try Self.createFolder(subfolder(of: key))
        // The header precedes the bytes and contains their digest. Its length is that with any digest.
        var entry = CacheEntry(
            key: key.text, size: file?.size ?? 0, digest: key.text,
            program: "tandem \(ProgramVersion.current)", content: content)
        let length = try entry.header().count
        let stored = try TemporaryFile(destination: location, in: .anywhere)
        defer { stored.discard() }
        entry.digest = try Self.copy(
            from: file?.descriptor ?? -1, at: 0, count: entry.size, to: stored.descriptor, at: Int64(length),
            isCancelled: isCancelled)
        let header = try entry.header()
        guard header.count == length else { throw SystemError("writing an entry", errno: EINVAL) }
        try header.withUnsafeBytes { try TemporaryFile.write($0, to: stored.descriptor, at: 0) }
        try stored.publish(replacing: true)
        let isMuch = state.withLock { state in
            state.unreducedBytes += entry.size + Int64(length)
            return state.unreducedBytes > limit / 10
        }
        if isMuch { reduce() }
    }

    // MARK: Size

    /// Removes the entries that were unused for the longest time if the entries are larger than the limit in total, until
    /// they take at most nine tenths of it.
    package func reduce() {
        guard mode == .readWrite else { return }
        let isFirst = state.withLock { state in
            defer { (state.isReducing, state.unreducedBytes) = (true, 0) }
            return !state.isReducing
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isReducing = false } }
        var entries: [(path: String, size: Int64, time: Int64)] = []
        for name in Self.names(in: folder) where name.utf8.count == 2 {
            for entry in Self.names(in: "\(folder)/\(name)") where CacheKey(entry) != nil {
                let path = "\(folder)/\(name)/\(entry)"
                guard let status = FileStatus(path: path, followingLinks: false), !status.isLink,
                    !status.identity.isDirectory
                else { continue }
                entries.append((path, max(0, status.identity.size), status.identity.modified))
            }
        }
        var total = entries.reduce(Int64(0)) { sum, entry in
            let (next, isOver) = sum.addingReportingOverflow(entry.size)
            return isOver ? .max : next
        }
        guard total > limit else { return }
        entries.sort { $0.time < $1.time }
        for entry in entries where total > limit / 10 * 9 {
            if unlink(entry.path) == 0 { total -= entry.size }
        }
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    // MARK: Files

    /// Returns the path of an entry: in a folder with the first two digits of its key.
    private func location(of key: CacheKey) -> String { "\(subfolder(of: key))/\(key.text)" }

    private func subfolder(of key: CacheKey) -> String { "\(folder)/\(key.text.prefix(2))" }

    /// Creates a folder, with its parents, if it doesn't exist.
    private static func createFolder(_ path: String) throws(SystemError) {
        var created = ""
        for part in path.pathParts {
            created += "/" + part
            guard mkdir(created, 0o777) == 0 || errno == EEXIST || errno == EISDIR else {
                throw SystemError("creating the folder \(created)", errno: errno)
            }
        }
    }

    /// Copies bytes from a file to another one, and returns their SHA-256.
    /// - Throws: `SystemError` if a file can't be read or written; `CancellationError`.
    private static func copy(
        from source: Int32, at start: Int64, count: Int64, to target: Int32, at offset: Int64,
        isCancelled: () -> Bool
    ) throws -> String {
        var hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while done < count {
            if isCancelled() { throw CancellationError() }
            let got = pread(
                source, buffer.baseAddress, min(buffer.count, Int(count - done)), off_t(start + done))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw SystemError("reading the file", errno: got == 0 ? EIO : errno) }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<got])
            hasher.update(piece)
            try TemporaryFile.write(piece, to: target, at: offset + done)
            done += Int64(got)
        }
        return hasher.finish()
    }
}
