internal import CLinux
internal import Dispatch
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import Locking

/// A set of folders whose changes are reported (inotify). Folders below them are watched only if they are in the set.
///
/// Unchecked `Sendable`: the source is created and activated in the initializer, and only retained afterwards; the watches are
/// guarded.
final class FolderWatcher: @unchecked Sendable {
    /// Watch descriptors by the paths of the folders that are watched for them.
    private struct Watches: Sendable {
        var byFolder: [ExactString: Int32] = [:]
        /// Folders that can't be watched, because the system's limit is reached.
        var refused: Set<ExactString> = []
    }

    private static let changes = UInt32(
        IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF)
    private let descriptor: Int32
    private let watches = Guarded(Watches())
    private let source: any DispatchSourceRead
    private let root: PathRoot

    /// Creates a watcher without folders. `onChange` is called on a queue after changes. Only folders beneath `root` are
    /// watched.
    /// - Throws: An environment error if the system refuses another inotify instance.
    init(beneath root: PathRoot, onChange: @escaping @Sendable () -> Void) throws(EngineError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            throw EngineError(
                .environment, "can't watch folders: \(String(cString: strerror(errno))) (inotify_init1)")
        }
        self.descriptor = descriptor
        self.root = root
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "tandem.folders"))
        source.setEventHandler { @Sendable [weak self] in
            self?.readEvents()
            onChange()
        }
        source.setCancelHandler { @Sendable in close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }

    /// Whether changes of all folders are reported: none is on a network file system, and the limit of the system isn't
    /// reached.
    var reportsAllChanges: Bool {
        watches.withLock { watches in
            watches.refused.isEmpty
                && !watches.byFolder.keys.contains { tandem_is_remote_file_system($0.text) != 0 }
        }
    }

    /// Number of folders that are watched.
    var count: Int { watches.withLock { $0.byFolder.count } }

    /// Watches some folders, and no others. In place of a folder that doesn't exist, the nearest existing one that would
    /// contain it is watched. Returns whether a folder was added, whose earlier changes were not reported.
    func watch(_ folders: Set<ExactString>) -> Bool {
        watches.withLock { watches in
            var (isAdded, kept, refused) = (false, Watches().byFolder, Set<ExactString>())
            for wanted in folders {
                var folder = wanted.text
                while true {
                    if kept[folder.exact] != nil { break }
                    if let known = watches.byFolder[folder.exact] {
                        kept[folder.exact] = known
                        break
                    }
                    if let added = add(folder) {
                        kept[folder.exact] = added
                        isAdded = true
                        break
                    }
                    guard errno == ENOENT || errno == ENOTDIR, folder != "/", folder != "." else {
                        refused.insert(wanted)
                        break
                    }
                    folder = Self.parent(of: folder)
                }
            }
            let descriptors = Set(kept.values)
            for (folder, watch) in watches.byFolder
            where kept[folder] == nil && !descriptors.contains(watch) {
                inotify_rm_watch(descriptor, watch)
            }
            watches.byFolder = kept
            watches.refused = refused
            return isAdded
        }
    }

    /// Returns the path of the folder that contains a path.
    static func parent(of path: String) -> String {
        guard let slash = path.lastSlash else { return "." }
        let folder = String(path[..<slash])
        return folder.isEmpty ? "/" : folder
    }

    /// Adds a watch; nil with `errno` if that isn't possible.
    private func add(_ folder: String) -> Int32? {
        guard root.path == nil || RealPath.of(folder).map({ root.contains($0 + "/") }) ?? true else {
            errno = EACCES
            return nil
        }
        let watch = inotify_add_watch(descriptor, folder, Self.changes | UInt32(IN_ONLYDIR))
        return watch >= 0 ? watch : nil
    }

    /// Reads all events. Watches of folders that were removed or moved are forgotten, so that another folder with the same path
    /// is watched.
    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                    guard event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF) != 0 else { continue }
                    if event.mask & UInt32(IN_MOVE_SELF) != 0 { inotify_rm_watch(descriptor, event.wd) }
                    watches.withLock { watches in
                        watches.byFolder = watches.byFolder.filter { $0.value != event.wd }
                    }
                }
            }
        }
    }
}
