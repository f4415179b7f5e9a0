internal import DequeModule
internal import Dispatch
internal import LibAV

/// State of a writer's inputs, protected by the writer's mutex: queued packets, flow control, and the order of packets.
///
/// Unchecked `Sendable`: the inputs are classes that are used only with the mutex held.
struct WriterState: @unchecked Sendable {
    struct Waiting: ~Copyable {
        let packet: Packet
        /// Decoding time in microseconds, for ordering only.
        let key: Int64
    }

    /// A packet that is written next.
    struct Next: ~Copyable {
        let packet: Packet
        let index: Int
    }

    final class Input {
        var waiting = UniqueDeque<Waiting>()
        var bytes = 0
        var newestKey: Int64 = Int64.min
        var isFinished = false
        /// Number of packets written, without codec headers.
        var packets = 0
        /// Size of these packets in bytes.
        var writtenBytes: Int64 = 0
        var request: (queue: DispatchQueue, block: @Sendable () -> Void)?
        /// Whether the callback returned because the input wasn't ready, and must be called again.
        var isAsleep = false
        var timeBase = Rational(1, 1_000_000)
    }

    var status = SessionStatus.unknown
    /// Whether the finished file is being published, so that it is too late for a cancel.
    var isPublishing = false
    var error: (any Error)?
    var inputs: [Input] = []
    var isDraining = false
    var isStartingSession = false
    var hasStartedSession = false
    /// Whether the session hasn't started, so that samples aren't accepted yet.
    var isEarly: Bool { status == .unknown || status == .working && !hasStartedSession }

    /// Number of calls of `isReadyForMoreMediaData` that returned false since the last packet, and the time of the
    /// first one; nil if there were none.
    var polls: (count: Int, since: DispatchTime)?
    /// Whether a single caller appends to the inputs in turn, so that the distance between them isn't limited.
    var isAlternating = false
    /// Time without an appended packet after which a waiting caller is considered stalled.
    var stallTimeout = DispatchTimeInterval.seconds(60)

    enum Poll { case waits, alternates, stalls }

    /// Records that an input wasn't ready. A caller that polls repeatedly while nothing is appended probably appends to
    /// all inputs in turn, so another input must accept samples.
    mutating func notePoll() -> Poll {
        guard status == .working, hasStartedSession, pace == nil, inputs.count > 1 else { return .waits }
        let (count, since) = polls.map { ($0.count + 1, $0.since) } ?? (1, .now())
        polls = (count, since)
        guard count >= 5, DispatchTime.now() > since + .milliseconds(200) else { return .waits }
        if !isAlternating {
            isAlternating = true
            return .alternates
        }
        return DispatchTime.now() > since + stallTimeout ? .stalls : .waits
    }
    /// Time on the output's time line at which the size limit was reached.
    var stop: MediaTime?

    /// Flow control of the session, and the session-wide index of the writer's first input; nil unless there are
    /// several writers, or inputs share a decoder.
    var pace: (value: SessionPace, first: Int)?

    /// Maximum distance in microseconds to the slowest track while packets are queued.
    static let aheadMicroseconds: Int64 = 2_000_000
    static let aheadBytes = 8 << 20
    /// Maximum number of bytes queued for an input of a caller that appends to all inputs in turn.
    static let alternatingBytes = 64 << 20

    /// Returns whether an input accepts samples: it isn't too far ahead of the slowest one.
    func isReady(_ index: Int) -> Bool {
        guard status == .working, hasStartedSession else { return false }
        let input = inputs[index]
        guard !input.isFinished else { return false }
        if stop != nil { return true }
        if let pace { return pace.value.isReady(pace.first + index) }
        if input.waiting.isEmpty { return true }
        if isAlternating { return input.bytes < Self.alternatingBytes }
        guard input.bytes < Self.aheadBytes else { return false }
        let slowest = inputs.lazy.filter { !$0.isFinished }.map(\.newestKey).min() ?? Int64.min
        return input.newestKey - max(slowest, 0) < Self.aheadMicroseconds
    }

    /// The input with the earliest packet; nil while an unfinished track has no packet.
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

    /// Queues a packet of a running writer. Returns whether the caller must start a drain.
    mutating func append(_ packet: consuming Packet, input index: Int) -> Bool {
        let input = inputs[index]
        let key = input.timeBase.rescale(packet.dts, to: AssetWriterInput.progressUnit)
        input.newestKey = max(input.newestKey, key)
        input.bytes += packet.size
        polls = nil
        if let pace { pace.value.append(pace.first + index, key: key, bytes: packet.size) }
        input.waiting.append(Waiting(packet: packet, key: key))
        return beginDrain()
    }

    /// Removes and returns the next packet; nil if the drain ends. `countsPackets`: whether the packet counts
    /// as written.
    mutating func takeNext(countsPackets: Bool) -> Next? {
        guard status == .working, stop == nil, let index = nextInput,
            let waiting = inputs[index].waiting.popFirst()
        else {
            isDraining = false
            return nil
        }
        let packet = waiting.packet
        inputs[index].bytes -= packet.size
        if let pace { pace.value.remove(pace.first + index, bytes: packet.size) }
        if countsPackets, !packet.isHeader {
            inputs[index].packets += 1
            inputs[index].writtenBytes += Int64(packet.size)
        }
        return Next(packet: packet, index: index)
    }

    /// Marks sleeping inputs that accept samples again as awake. Returns their callbacks, which the caller
    /// calls on their queues.
    func wakeSleepers() -> [(queue: DispatchQueue, block: @Sendable () -> Void)] {
        var wakes: [(queue: DispatchQueue, block: @Sendable () -> Void)] = []
        if isEarly { return [] }
        for (index, input) in inputs.enumerated() where input.isAsleep && !input.isFinished {
            guard let request = input.request, status != .working || stop != nil || isReady(index)
            else { continue }
            input.isAsleep = false
            wakes.append(request)
        }
        return wakes
    }

    /// Returns a description of the inputs that wait and those they wait for. `names` contains the names of
    /// the inputs.
    func stallDescription(_ names: [String]) -> String {
        let behind = inputs.indices.filter { inputs[$0].waiting.isEmpty && !inputs[$0].isFinished }
        let missing = behind.map { names[$0] }.joined(separator: ", ")
        let waits = inputs.indices.filter { !inputs[$0].waiting.isEmpty }.map {
            "\(names[$0]) waits for \(missing.isEmpty ? "the disk" : missing): "
                + "\(inputs[$0].waiting.count) packets queued"
        }
        return waits.isEmpty ? "no samples from \(missing)" : waits.joined(separator: "; ")
    }

    /// Returns whether an input has no further packets.
    func hasEnded(_ index: Int) -> Bool { inputs[index].isFinished && inputs[index].waiting.isEmpty }

    /// Returns whether the caller must start a drain: a packet can be written, and no drain is running.
    mutating func beginDrain() -> Bool {
        guard !isDraining, nextInput != nil else { return false }
        isDraining = true
        return true
    }

    /// Drops all queued packets, and releases other writers from waiting for these inputs.
    func dropWaiting() {
        for (index, input) in inputs.enumerated() {
            pace?.value.finish(index + (pace?.first ?? 0))
            input.waiting = UniqueDeque()
            input.bytes = 0
        }
    }
}
