internal import Synchronization

/// A counter of processed packets and frames in this process, by which a supervisor distinguishes a slow job from one
/// that hangs.
package enum Activity {
    private static let counter = Atomic<UInt64>(0)

    /// Number of packets and frames since the process started.
    package static var count: UInt64 { counter.load(ordering: .relaxed) }

    static func note() { counter.add(1, ordering: .relaxed) }
}
