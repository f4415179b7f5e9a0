internal import Synchronization

/// Counts what libav hands over in this process: whoever watches from outside tells a slow job from one that is stuck.
package enum Activity {
    private static let counter = Atomic<UInt64>(0)

    /// Packets read and written so far.
    package static var count: UInt64 { counter.load(ordering: .relaxed) }

    static func note() { counter.add(1, ordering: .relaxed) }
}
