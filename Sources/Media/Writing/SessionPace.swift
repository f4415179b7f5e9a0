internal import Locking

/// Flow control for the inputs of a session, if one decoder feeds several of them, or if there are several writers.
///
/// Inputs with a common decoder are a *group*: the slowest one paces the others, so none of them may wait for another
/// input of the group. Only groups wait for each other: a group that is too far ahead of the slowest input of the
/// session pauses as a whole, and the slowest group never pauses. So there are no circular waits, and queues are
/// bounded by that distance and by the encoders' buffers.
///
/// Locking order: a writer's mutex before this one.
final class SessionPace: Sendable {
    private struct Input {
        let group: Int
        var newestKey = Int64.min
        var waiting = 0
        var bytes = 0
        var isFinished = false
    }

    private let inputs: Guarded<[Input]>

    /// Creates flow control; `groups` contains the group number of each input.
    init(groups: [Int]) { inputs = Guarded(groups.map { Input(group: $0) }) }

    func append(_ index: Int, key: Int64, bytes: Int) {
        inputs.withLock { inputs in
            inputs[index].newestKey = max(inputs[index].newestKey, key)
            inputs[index].waiting += 1
            inputs[index].bytes += bytes
        }
    }

    func remove(_ index: Int, bytes: Int) {
        inputs.withLock { inputs in
            inputs[index].waiting -= 1
            inputs[index].bytes -= bytes
        }
    }

    /// Marks an input as finished, so that no group waits for it.
    func finish(_ index: Int) { inputs.withLock { $0[index].isFinished = true } }

    func isReady(_ index: Int) -> Bool {
        inputs.withLock { inputs in
            let group = inputs[index].group
            var slowest = Int64.max
            var own = Int64.max
            var bytes = 0
            var isWaiting = false
            for input in inputs {
                if input.group == group {
                    bytes = max(bytes, input.bytes)
                    isWaiting = isWaiting || input.waiting > 0
                }
                guard !input.isFinished else { continue }
                slowest = min(slowest, input.newestKey)
                if input.group == group { own = min(own, input.newestKey) }
            }
            if !isWaiting || own <= slowest { return true }
            return bytes < WriterState.aheadBytes && own - max(slowest, 0) < WriterState.aheadMicroseconds
        }
    }
}
