internal import Dispatch
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// Encodes stills one behind the other on a queue of its own, while the next one is found: at most one waits.
///
/// Unchecked `Sendable`: `pieces` is touched by who adds only while nothing is on `queue`; the failure is behind the mutex.
final class StillPipeline: @unchecked Sendable {
    /// A class because closures take no noncopyable values along. Unchecked `Sendable`: handed from one queue to another once.
    private final class Carrier: @unchecked Sendable {
        let frame: Frame
        init(_ frame: consuming Frame) { self.frame = frame }
    }

    private let queue = DispatchQueue(label: "tandem.stills")
    private let encoder: StillEncoder
    private let pieces: PieceFile
    private let failure = Guarded<(any Error)?>(nil)

    init(encoder: StillEncoder, pieces: PieceFile) {
        self.encoder = encoder
        self.pieces = pieces
    }

    /// Takes a still, once the one before it is done. Throws what went wrong with that.
    func add(_ frame: consuming Frame) throws {
        try settle()
        let carrier = Carrier(frame)
        queue.async { @Sendable in
            do {
                try self.pieces.append(carrier.frame, with: self.encoder)
            } catch {
                self.failure.withLock { $0 = error }
            }
        }
    }

    /// The same still as the one before, which needs no second encoding.
    func repeatLast() throws {
        try settle()
        pieces.repeatLast()
    }

    /// Waits for the last one.
    func settle() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
