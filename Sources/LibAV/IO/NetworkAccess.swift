internal import Synchronization

/// Whether this process may fetch anything. It may not until it says so, once: whatever a job file or a medium asks
/// for, there is one gate.
public enum NetworkAccess {
    private static let flag = Atomic<Bool>(false)

    /// From now on sources may be URLs.
    public static func allow() { flag.store(true, ordering: .releasing) }

    /// Sources may be URLs.
    public static var isAllowed: Bool { flag.load(ordering: .acquiring) }
}
