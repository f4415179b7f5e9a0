internal import Dispatch
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The encoding of still images in sequence on a separate queue, while the next frame is decoded. At most one
/// image waits.
///
/// Unchecked `Sendable`: the caller accesses `pieces` only while `queue` is empty; the failure is behind the
/// mutex.
final class StillPipeline: @unchecked Sendable {
    /// A box for a frame, since closures can't capture noncopyable values. Unchecked `Sendable`: handed from
    /// one queue to another once.
    private final class Carrier: @unchecked Sendable {
        let frame: Frame
        init(_ frame: consuming Frame) { self.frame = frame }
    }

    private let queue = DispatchQueue(label: "tandem.stills")
    private let encoder: StillImageEncoder
    private let pieces: PieceFile
    private let failure = Guarded<(any Error)?>(nil)

    init(encoder: StillImageEncoder, pieces: PieceFile) {
        self.encoder = encoder
        self.pieces = pieces
    }

    /// Adds an image once the previous one is done. Throws the error of the previous one.
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

    /// Repeats the previous image without encoding it again.
    func repeatLast() throws {
        try settle()
        pieces.repeatLast()
    }

    /// Waits for the last image. Throws its error.
    func settle() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
