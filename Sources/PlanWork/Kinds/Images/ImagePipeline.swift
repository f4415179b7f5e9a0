internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// A pipeline that encodes still images on a separate queue while the next frame is decoded. At most one image is
/// pending.
///
/// Unchecked `Sendable`: mutable state is used on `queue` only.
final class ImagePipeline: @unchecked Sendable {
    private let queue = SerialQueue(label: "tandem.stills")
    private let encoder: StillImageEncoder
    private let writer: PartWriter
    private var pending: Frame?
    private var failure: (any Error)?

    init(encoder: StillImageEncoder, writer: PartWriter) {
        self.encoder = encoder
        self.writer = writer
    }

    /// Adds an image after the previous one is complete. Throws the error of the previous one.
    func add(_ frame: consuming Frame) throws {
        try finish()
        var frame: Frame? = consume frame
        queue.sync { pending = frame.take() }
        queue.async { @Sendable in self.encodePending() }
    }

    private func encodePending() {
        guard let frame = pending.take() else { return }
        do { try writer.append(frame, with: encoder) } catch { failure = error }
    }

    /// Adds the previous image again, without encoding it.
    func repeatLast() throws {
        try finish()
        queue.sync { writer.repeatLast() }
    }

    /// Waits for the last image, or encodes it if the queue hasn't begun to, and throws its error.
    func finish() throws {
        try queue.sync {
            encodePending()
            if let failure { throw failure }
        }
    }
}
