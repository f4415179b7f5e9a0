internal import ExactStrings
internal import Glibc
internal import Locking

/// Open file descriptors by path, possibly from another process, for a process that can't open files itself.
public final class PassedDescriptors: Sendable {
    private struct State: Sendable {
        var files: [ExactString: Int32] = [:]
        /// Descriptors that this object owns, and the order in which they were added.
        var given: [ExactString: Int32] = [:]
        var order: [ExactString] = []
        var isOver = false
    }

    private let state = Guarded(State())
    private static let mostGiven = 128
    /// Function that requests a file that isn't available yet, and waits for it. Returns false if there is no
    /// file at that path.
    private let fetch: @Sendable (_ path: String) -> Bool

    /// Creates an empty set. `fetch` is called for a path that was not lent. It may wait until the path is given, and
    /// returns whether to look it up again.
    public init(fetch: @escaping @Sendable (_ path: String) -> Bool = { _ in false }) { self.fetch = fetch }

    /// Makes a path readable through a descriptor, which must stay open until `takeBack`.
    public func lend(_ descriptor: Int32, for path: String) {
        state.withLock { $0.files[path.exact] = descriptor }
    }

    /// Makes a path readable through a descriptor, which this object owns and closes after many others were given.
    public func give(_ descriptor: Int32, for path: String) {
        let unwanted = state.withLock { state -> [Int32] in
            if state.isOver { return [descriptor] }
            // Readers that requested the latest files may not have opened them yet.
            var unwanted: [Int32] = []
            if state.order.count >= Self.mostGiven {
                unwanted += state.given.removeValue(forKey: state.order.removeFirst()).map { [$0] } ?? []
            }
            if let before = state.given.updateValue(descriptor, forKey: path.exact) {
                unwanted.append(before)
                state.order.removeAll { $0 == path.exact }
            }
            state.order.append(path.exact)
            return unwanted
        }
        for descriptor in unwanted { close(descriptor) }
    }

    /// Ends reading through these descriptors, so that they may be closed and their numbers reused. Later readers
    /// open the file at the path, as far as permitted.
    public func takeBack() {
        let left = state.withLock { state in
            defer { (state.files, state.given, state.order, state.isOver) = ([:], [:], [], true) }
            return Array(state.given.values)
        }
        for descriptor in left { close(descriptor) }
    }

    /// Returns a duplicate of a path's descriptor, which the caller owns; nil if the path is not available.
    func duplicate(_ path: String) -> Int32? {
        if let found = find(path) { return found }
        return fetch(path) ? find(path) : nil
    }

    private func find(_ path: String) -> Int32? {
        state.withLock { state in
            guard let descriptor = state.files[path.exact] ?? state.given[path.exact] else { return nil }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            return copy >= 0 ? copy : nil
        }
    }
}
