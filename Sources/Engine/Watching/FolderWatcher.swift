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
    private struct Watch: Sendable {
        let descriptor: Int32
        /// Whether changes by other machines, which aren't reported, are possible.
        let isRemote: Bool
    }

    private struct Watches: Sendable {
        var byFolder: [ExactString: Watch] = [:]
        /// Whether the system's limit is reached, so that folders aren't watched.
        var isLimited = false
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
            !watches.isLimited && !watches.byFolder.values.contains(where: \.isRemote)
        }
    }

    /// Number of folders that are watched.
    var count: Int { Set(watches.withLock { $0.byFolder.values.map(\.descriptor) }).count }

    /// Watches some folders, and no others. In place of a folder that doesn't exist, the nearest existing one that would
    /// contain it is watched. Returns whether a folder was added, whose earlier changes were not reported.
    ///
    /// All folders are looked up anew, since a path may have come to mean another folder, by a link, a mount, or a folder above
    /// it that was moved.
    func watch(_ folders: Set<ExactString>) -> Bool {
        watches.withLock { watches in
            let before = watches.byFolder
            let descriptors = Set(before.values.map(\.descriptor))
            watches = Watches()
            for wanted in folders {
                var (folder, result) = (wanted.text, add(wanted.text))
                while case .failure(let problem) = result, problem.isMissing, folder != "/", folder != "." {
                    folder = folder.parentFolder
                    result = add(folder)
                }
                switch result {
                case .success(let descriptor):
                    let known = before[folder.exact]
                    watches.byFolder[folder.exact] =
                        known?.descriptor == descriptor
                        ? known
                        : Watch(descriptor: descriptor, isRemote: tandem_is_remote_file_system(folder) != 0)
                case .failure(let problem):
                    if problem.number == ENOSPC || problem.number == ENOMEM { watches.isLimited = true }
                }
            }
            let kept = Set(watches.byFolder.values.map(\.descriptor))
            for descriptor in descriptors.subtracting(kept) {
                inotify_rm_watch(self.descriptor, descriptor)
            }
            return !kept.isSubset(of: descriptors)
        }
    }

    private struct Problem: Error {
        let number: Int32
        var isMissing: Bool { number == ENOENT || number == ENOTDIR }
    }

    /// Adds a watch, or returns the existing one of the folder.
    private func add(_ folder: String) -> Result<Int32, Problem> {
        guard root.path == nil || RealPath.of(folder).map({ root.contains($0 + "/") }) ?? true else {
            return .failure(Problem(number: EXDEV))
        }
        let watch = inotify_add_watch(descriptor, folder, Self.changes | UInt32(IN_ONLYDIR))
        return watch >= 0 ? .success(watch) : .failure(Problem(number: errno))
    }

    /// Reads all events. Their contents don't matter, since all folders are looked up anew.
    private func readEvents() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
