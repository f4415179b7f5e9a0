internal import Synchronization

/// Counter of packets read, for the detection of stalls: a long search for the first sample is progress.
final class MovementCounter: Sendable {
    private let packets = Atomic<Int64>(0)
    func count() { packets.add(1, ordering: .relaxed) }
    var value: Int64 { packets.load(ordering: .relaxed) }
}
