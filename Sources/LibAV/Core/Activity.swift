internal import Synchronization

/// A counter of packets and frames in this process, by which a supervisor distinguishes a slow job from one
/// that hangs.
package enum Activity {
    private static let counter = Atomic<UInt64>(0)

    /// Number of packets and frames so far.
    package static var count: UInt64 { counter.load(ordering: .relaxed) }

    static func note() { counter.add(1, ordering: .relaxed) }
}
