internal import ExactStrings
internal import Glibc
internal import Locking

/// Files that are open already, perhaps by another process, by the paths under which they are asked for: who may open
/// nothing itself still reads what it was given.
public final class PassedDescriptors: Sendable {
    private struct State: Sendable {
        var files: [ExactString: Int32] = [:]
        /// Files that were handed over for good, and in which order.
        var given: [ExactString: Int32] = [:]
        var order: [ExactString] = []
        var isOver = false
    }

    private let state = Guarded(State())
    private static let mostGiven = 128
    /// Has a file given that is not there yet, and waits for it; false where there is none of that path.
    private let fetch: @Sendable (_ path: String) -> Bool

    /// None. `fetch` is called for a path that nobody has lent: it may wait until it was given, and says whether to look again.
    public init(fetch: @escaping @Sendable (_ path: String) -> Bool = { _ in false }) { self.fetch = fetch }

    /// From now on a path is read through this descriptor, which must stay open until it is taken back.
    public func lend(_ descriptor: Int32, for path: String) {
        state.withLock { $0.files[path.exact] = descriptor }
    }

    /// From now on a path is read through this descriptor, which is closed here when many others came after it.
    public func give(_ descriptor: Int32, for path: String) {
        let unwanted = state.withLock { state -> [Int32] in
            if state.isOver { return [descriptor] }
            // Who asked for the last ones may still come for them.
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

    /// Nothing is read through them any more: they may be closed, and their numbers become other files'. Whoever comes late opens
    /// what lies at the path, as far as it may.
    public func takeBack() {
        let left = state.withLock { state in
            defer { (state.files, state.given, state.order, state.isOver) = ([:], [:], [], true) }
            return Array(state.given.values)
        }
        for descriptor in left { close(descriptor) }
    }

    /// A descriptor of its own for whoever asks for a path; nil where it is not lent.
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
