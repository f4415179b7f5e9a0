internal import Synchronization

/// Counts the packets that were read, so that a long search for the first sample isn't taken for a stall.
final class MovementCounter: Sendable {
    private let packets = Atomic<Int64>(0)
    func count() { packets.add(1, ordering: .relaxed) }
    var value: Int64 { packets.load(ordering: .relaxed) }
}
