internal import DequeModule
internal import Dispatch
internal import LibAV

/// What a writer knows of its inputs behind its mutex: which packets wait, who may go on, and whose packet comes next.
///
/// Unchecked `Sendable`: its inputs are classes, which nobody but the mutex's holder touches.
struct WriterState: @unchecked Sendable {
    struct Waiting: ~Copyable {
        let packet: Packet
        /// Decoding time in microseconds, for the order alone.
        let key: Int64
    }

    final class Input {
        var waiting = UniqueDeque<Waiting>()
        var bytes = 0
        var newestKey: Int64 = Int64.min
        var isFinished = false
        /// Packets written.
        var packets = 0
        var request: (queue: DispatchQueue, block: @Sendable () -> Void)?
        /// The pump found the input not ready and returned; it is called again.
        var isAsleep = false
        var timeBase = Rational(1, 1_000_000)
    }

    var status = SessionStatus.unknown
    var error: (any Error)?
    var inputs: [Input] = []
    var isDraining = false
    var hasStartedSession = false
    /// Where the file ends because no more fits, on the output's time line.
    var stop: MediaTime?

    /// Where it stands among the inputs of a session that has several writers, or inputs that share a decoder.
    var pace: (value: SessionPace, first: Int)?

    /// Ahead of the slowest track by at most so much, once something waits.
    static let aheadMicroseconds: Int64 = 2_000_000
    static let aheadBytes = 8 << 20

    /// An input may give more: it is not too far ahead of the slowest.
    func isReady(_ index: Int) -> Bool {
        guard status == .working else { return false }
        let input = inputs[index]
        guard !input.isFinished else { return false }
        if stop != nil { return true }
        if let pace { return pace.value.isReady(pace.first + index) }
        if input.waiting.isEmpty { return true }
        guard input.bytes < Self.aheadBytes else { return false }
        let slowest = inputs.lazy.filter { !$0.isFinished }.map(\.newestKey).min() ?? Int64.min
        return input.newestKey - max(slowest, 0) < Self.aheadMicroseconds
    }

    /// Every track that still comes has a packet here, so the earliest one is known.
    var nextInput: Int? {
        var best: Int?
        var bestKey = Int64.max
        for (index, input) in inputs.enumerated() {
            if input.waiting.isEmpty {
                if input.isFinished { continue }
                return nil
            }
            let key = input.waiting[0].key
            if best == nil || key < bestKey {
                best = index
                bestKey = key
            }
        }
        return best
    }

    /// True where somebody is to write what can be written, and nobody does yet.
    mutating func beginDrain() -> Bool {
        guard !isDraining, nextInput != nil else { return false }
        isDraining = true
        return true
    }

    /// Forgets what waits.
    func dropWaiting() {
        for (index, input) in inputs.enumerated() {
            pace?.value.finish(index + (pace?.first ?? 0))
            input.waiting = UniqueDeque()
            input.bytes = 0
        }
    }
}
