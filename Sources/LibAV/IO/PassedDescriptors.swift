internal import ExactStrings
internal import Glibc
internal import Locking

/// Open file descriptors by path, possibly received from another process, for a process that can't open files itself.
package final class PassedDescriptors: Sendable {
    private struct State: Sendable {
        var files: [ExactString: Int32] = [:]
        /// Descriptors that this object owns, by path. `order` contains the paths in the order in which they were
        /// added.
        var owned: [ExactString: Int32] = [:]
        var order: [ExactString] = []
        var isOver = false
    }

    private let state = Guarded(State())
    private static let maxOwned = 128
    /// Function that requests the descriptor of a path and waits for it. Returns false if there is no file at the
    /// path.
    private let fetch: @Sendable (_ path: String) -> Bool

    /// Creates an empty set. `fetch` is called for a path without a descriptor. It may wait until a descriptor is
    /// added, and returns whether to search for the path again.
    package init(fetch: @escaping @Sendable (_ path: String) -> Bool = { _ in false }) { self.fetch = fetch }

    /// Adds a descriptor for a path, which the caller must keep open until `revoke`.
    package func add(_ descriptor: Int32, for path: String) {
        state.withLock { $0.files[path.exact] = descriptor }
    }

    /// Adds a descriptor for a path, which this object owns. It is closed after 128 others were added.
    package func addOwned(_ descriptor: Int32, for path: String) {
        let unused = state.withLock { state -> [Int32] in
            if state.isOver { return [descriptor] }
            // Only the oldest descriptor is closed: readers that requested the latest ones may not have duplicated
            // them yet.
            var unused: [Int32] = []
            if state.order.count >= Self.maxOwned {
                unused += state.owned.removeValue(forKey: state.order.removeFirst()).map { [$0] } ?? []
            }
            if let before = state.owned.updateValue(descriptor, forKey: path.exact) {
                unused.append(before)
                state.order.removeAll { $0 == path.exact }
            }
            state.order.append(path.exact)
            return unused
        }
        for descriptor in unused { close(descriptor) }
    }

    /// Removes all descriptors, so that they may be closed and their numbers reused. Later readers open the file at
    /// the path, if permitted.
    package func revoke() {
        let revoked = state.withLock { state in
            defer { (state.files, state.owned, state.order, state.isOver) = ([:], [:], [], true) }
            return Array(state.owned.values)
        }
        for descriptor in revoked { close(descriptor) }
    }

    /// Returns a duplicate of a path's descriptor, which the caller owns; nil if the path is not available.
    func duplicate(_ path: String) -> Int32? {
        if let found = find(path) { return found }
        return fetch(path) ? find(path) : nil
    }

    private func find(_ path: String) -> Int32? {
        state.withLock { state in
            guard let descriptor = state.files[path.exact] ?? state.owned[path.exact] else { return nil }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            return copy >= 0 ? copy : nil
        }
    }
}
