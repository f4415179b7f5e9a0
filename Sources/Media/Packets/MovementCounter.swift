internal import Synchronization

/// Counts packets that were read, so that a long way to the first sample is no stall.
final class MovementCounter: Sendable {
    private let packets = Atomic<Int64>(0)
    func count() { packets.add(1, ordering: .relaxed) }
    var value: Int64 { packets.load(ordering: .relaxed) }
}
