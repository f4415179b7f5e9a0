internal import DequeModule
internal import LibAV
internal import Locking

/// A decoder with a queue of decoded frames for each port, on a private queue, so that decoding and further
/// processing run concurrently.
///
/// Each port receives every frame, as a reference to the same data. A frame is decoded when every port has room; so the
/// slowest port paces the others, and the number of queued frames is bounded. A closed port, whose reader has finished,
/// failed or was cancelled, doesn't block the others.
///
/// A read from an empty port decodes synchronously on the decoder's queue if no other port is full. If one is full, the
/// read returns `pending`, and `wake` is called when a frame arrives.
///
/// Unchecked `Sendable`: the source of the frames is used on `queue` only, everything else is protected by the mutex.
final class SharedDecoder: @unchecked Sendable {
    private struct Waiting: ~Copyable {
        var frames = UniqueDeque<Frame>()
        var bytes = 0
    }

    /// State of a port. A class, because arrays can't hold noncopyable values.
    private final class Inbox {
        var waiting = Waiting()
        /// Whether the port's reader received `pending`, so that `wake` must be called.
        var isAwaited = false
        var wake: (@Sendable () -> Void)?
        var isClosed = false
        var isClaimed = false

        func hasRoom(_ limit: (frames: Int, bytes: Int)) -> Bool {
            isClosed || waiting.frames.isEmpty
                || waiting.frames.count < limit.frames && waiting.bytes < limit.bytes
        }
    }

    private struct State {
        var inboxes: [Inbox] = []
        var isDecoding = false
        var isFinished = false
        var error: (any Error)?
        // Properties of the stream as of the last frame.
        var timeBase: Rational
        var dropped = 0
        var formatChange: MediaTime?
    }

    private let queue = SerialQueue(label: "tandem.decode")
    private let state: Guarded<State>
    private var frames: (any FrameStream)?
    private let limit: (frames: Int, bytes: Int)
    /// Number of frames decoded per block of work on `queue`: switching queues takes as long as decoding a few frames
    /// of audio.
    private let turn: Int

    /// Creates a decoder; `ports` is the number of ports, each of which must be claimed or closed.
    init(_ frames: any FrameStream, mediaType: MediaType, ports: Int) {
        self.frames = frames
        let inboxes = (0..<ports).map { _ in Inbox() }
        state = Guarded(State(inboxes: inboxes, timeBase: frames.timeBase))
        let isVideo = mediaType == .video
        limit = isVideo ? (frames: 3, bytes: 48 << 20) : (frames: 32, bytes: 1 << 20)
        turn = isVideo ? 1 : 8
    }

    /// Claims a port. `wake` is called, on any queue, when a port that returned `pending` can be read again.
    func claim(_ index: Int, wake: @escaping @Sendable () -> Void) -> FramePort {
        state.withLock { state in
            state.inboxes[index].wake = wake
            state.inboxes[index].isClaimed = true
        }
        return FramePort(decoder: self, index: index)
    }

    /// Whether every port was claimed or closed.
    var isClaimed: Bool { state.withLock { $0.inboxes.allSatisfy { $0.isClaimed || $0.isClosed } } }

    /// Closes a port without a reader, or whose reader requires no more frames.
    func close(_ index: Int) {
        let isLast = state.withLock { state -> Bool in
            let inbox = state.inboxes[index]
            inbox.isClosed = true
            inbox.waiting = Waiting()
            inbox.wake = nil
            guard state.inboxes.allSatisfy(\.isClosed) else { return false }
            state.isFinished = true
            return true
        }
        // The stream, with its decoder and demuxer, is released on the queue.
        if isLast { queue.async { @Sendable in self.frames = nil } } else { decodeAhead() }
    }

    fileprivate var properties: (timeBase: Rational, dropped: Int, formatChange: MediaTime?) {
        state.withLock { ($0.timeBase, $0.dropped, $0.formatChange) }
    }

    fileprivate func next(_ index: Int, into frame: borrowing Frame) throws -> FrameSupply {
        while true {
            var shouldDecode = false
            var failure: (any Error)?
            var supply: FrameSupply?
            let found = state.withLock { state -> Frame? in
                let inbox = state.inboxes[index]
                if let found = inbox.waiting.frames.popFirst() {
                    inbox.waiting.bytes -= found.byteCount
                    shouldDecode = beginDecoding(&state)
                    return found
                }
                if state.isFinished {
                    failure = state.error
                    supply = .ended
                } else if !canDecode(state) {
                    inbox.isAwaited = true
                    supply = .pending
                }
                return nil
            }
            if shouldDecode { scheduleTurn() }
            if let found {
                frame.take(found)
                return .frame
            }
            if let failure { throw failure }
            if let supply { return supply }
            queue.sync { if isWanted(by: index) { decode() } }
        }
    }

    private func isWanted(by index: Int) -> Bool {
        state.withLock { $0.inboxes[index].waiting.frames.isEmpty && !$0.isFinished && canDecode($0) }
    }

    /// Returns whether every port has room, including ports that aren't claimed yet.
    private func canDecode(_ state: borrowing State) -> Bool {
        state.inboxes.allSatisfy { $0.hasRoom(limit) }
    }

    private func beginDecoding(_ state: inout State) -> Bool {
        guard !state.isDecoding, !state.isFinished, canDecode(state) else { return false }
        state.isDecoding = true
        return true
    }

    private func decodeAhead() {
        if state.withLock({ beginDecoding(&$0) }) { scheduleTurn() }
    }

    private func scheduleTurn() {
        queue.async { @Sendable in
            self.decode()
            // The next turn is a separate block, so that a reader waiting for the queue precedes it.
            let continues = self.state.withLock { state in
                state.isDecoding = !state.isFinished && self.canDecode(state)
                return state.isDecoding
            }
            if continues { self.scheduleTurn() }
        }
    }

    /// Decodes the frames of one turn; on `queue`.
    private func decode() {
        guard let frames else { return }
        do {
            for _ in 0..<turn {
                let frame = try Frame()
                guard case .frame = try frames.next(into: frame) else {
                    finish(nil)
                    return
                }
                guard try deliver(frame, of: frames) else { return }
            }
        } catch {
            finish(error)
        }
    }

    /// Appends a frame to every port; returns false if a port has no room for another.
    private func deliver(_ frame: consuming Frame, of stream: any FrameStream) throws -> Bool {
        var wakes: [@Sendable () -> Void] = []
        var whole: Frame? = consume frame
        let continues = try state.withLock { state -> Bool in
            state.timeBase = stream.timeBase
            state.dropped = stream.droppedSamples
            state.formatChange = stream.formatChange
            let open = state.inboxes.filter { !$0.isClosed }
            for (position, inbox) in open.enumerated() {
                let isLast = position == open.count - 1
                guard let next = isLast ? whole.take() : try whole?.reference() else { break }
                inbox.waiting.bytes += next.byteCount
                inbox.waiting.frames.append(next)
                if inbox.isAwaited, let wake = inbox.wake {
                    inbox.isAwaited = false
                    wakes.append(wake)
                }
            }
            return !open.isEmpty && canDecode(state)
        }
        for wake in wakes { wake() }
        return continues
    }

    private func finish(_ error: (any Error)?) {
        let wakes = state.withLock { state -> [@Sendable () -> Void] in
            state.isFinished = true
            state.error = error
            let awaited = state.inboxes.filter(\.isAwaited)
            for inbox in awaited { inbox.isAwaited = false }
            return awaited.compactMap(\.wake)
        }
        frames = nil
        for wake in wakes { wake() }
    }
}

/// One reader's port of a shared decoder; closed when it is deallocated.
final class FramePort: FrameStream {
    private let decoder: SharedDecoder
    private let index: Int

    fileprivate init(decoder: SharedDecoder, index: Int) {
        self.decoder = decoder
        self.index = index
    }

    deinit { decoder.close(index) }

    func next(into frame: borrowing Frame) throws -> FrameSupply { try decoder.next(index, into: frame) }
    var timeBase: Rational { decoder.properties.timeBase }
    var droppedSamples: Int { decoder.properties.dropped }
    var formatChange: MediaTime? { decoder.properties.formatChange }
}
