internal import Locking

/// Which inputs of a session may go on, where several are fed by one decoder or written by several writers.
///
/// Inputs that a decoder feeds together are a *group*: the slowest of them paces the others, so none of them may wait for
/// anything that another of them holds back. Groups wait for each other alone: one that is too far ahead of the slowest
/// input of the session stops as a whole, and the slowest group never does. So nothing waits in a circle, and what waits
/// is bounded by that distance and by what encoders hold back.
///
/// Taken inside a writer's mutex, never around one.
final class SessionPace: Sendable {
    private struct Input {
        let group: Int
        var newestKey = Int64.min
        var waiting = 0
        var bytes = 0
        var isFinished = false
    }

    private let inputs: Guarded<[Input]>

    /// The group of each input.
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

    /// Nothing more comes of it, and nobody waits for it.
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
