internal import Dispatch
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// A pipeline that encodes still images on a separate queue while the next frame is decoded. At most one image is
/// pending.
///
/// Unchecked `Sendable`: the caller accesses `writer` only while `queue` is empty; the failure is protected by a mutex.
final class ImagePipeline: @unchecked Sendable {
    /// A box for a frame, since closures can't capture noncopyable values. Unchecked `Sendable`: it is passed from one
    /// queue to another once.
    private final class Carrier: @unchecked Sendable {
        let frame: Frame
        init(_ frame: consuming Frame) { self.frame = frame }
    }

    private let queue = DispatchQueue(label: "tandem.stills")
    private let encoder: StillImageEncoder
    private let writer: PartWriter
    private let failure = Guarded<(any Error)?>(nil)

    init(encoder: StillImageEncoder, writer: PartWriter) {
        self.encoder = encoder
        self.writer = writer
    }

    /// Adds an image after the previous one is complete. Throws the error of the previous one.
    func add(_ frame: consuming Frame) throws {
        try finish()
        let carrier = Carrier(frame)
        queue.async { @Sendable in
            do {
                try self.writer.append(carrier.frame, with: self.encoder)
            } catch {
                self.failure.withLock { $0 = error }
            }
        }
    }

    /// Adds the previous image again, without encoding it.
    func repeatLast() throws {
        try finish()
        writer.repeatLast()
    }

    /// Waits for the last image, and throws its error.
    func finish() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
