internal import BinaryCoding
internal import CLinux
internal import Glibc
internal import Locking

/// One end of a socket that transfers messages, each preceded by its length, and file descriptors.
final class MessageChannel: Sendable {
    /// Maximum length of a message in bytes. Longer messages are a protocol violation.
    static let limit = 64 << 20

    let descriptor: Int32
    private let sending = Guarded(())

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sends a message. Returns false if the peer has closed the socket or doesn't read within the send timeout.
    func send(_ message: some Encodable, descriptors: [Int32] = []) -> Bool {
        guard let body = try? BinaryEncoder().encode(message) else { return false }
        var bytes = withUnsafeBytes(of: UInt32(body.count).littleEndian) { Array($0) }
        bytes += body
        return sending.withLock { _ in
            var done = 0
            while done < bytes.count {
                let sent = bytes.withUnsafeBytes { buffer in
                    tandem_send(
                        descriptor, buffer.baseAddress! + done, buffer.count - done, descriptors,
                        done == 0 ? descriptors.count : 0)
                }
                if sent > 0 { done += sent } else if errno != EINTR { return false }
            }
            return true
        }
    }
}

/// A buffer of bytes and descriptors received from a channel, from which messages are decoded.
struct MessageBuffer {
    private var bytes: [UInt8] = []
    /// Received descriptors, in order of arrival.
    private(set) var descriptors: [Int32] = []

    enum ReadResult {
        case received
        /// No bytes are available yet.
        case unavailable
        /// The peer has closed the socket.
        case closed
    }

    /// Reads available bytes; with `waits`, blocks until there are some.
    mutating func fill(from descriptor: Int32, waits: Bool = true) -> ReadResult {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var received = [Int32](repeating: -1, count: 64)
        var count = received.count
        let got = tandem_receive(descriptor, &buffer, buffer.count, &received, &count, waits ? 1 : 0)
        if got < 0 { return errno == EINTR ? .received : errno == EAGAIN ? .unavailable : .closed }
        descriptors += received.prefix(count)
        bytes += buffer.prefix(got)
        return got == 0 ? .closed : .received
    }

    /// Removes and returns the next message; nil if it is incomplete. Throws if it is invalid.
    mutating func next<Message: Decodable>(_ type: Message.Type) throws -> Message? {
        guard bytes.count >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
        guard length <= MessageChannel.limit else {
            throw StateError("a message of \(length) bytes exceeds the limit")
        }
        guard bytes.count >= 4 + length else { return nil }
        let body = Array(bytes[4..<4 + length])
        bytes.removeFirst(4 + length)
        return try BinaryDecoder().decode(type, from: body)
    }

    /// Removes and returns the first `count` descriptors. Further ones may belong to the next message.
    mutating func takeDescriptors(_ count: Int) -> [Int32] {
        let taken = Array(descriptors.prefix(max(0, count)))
        descriptors.removeFirst(taken.count)
        return taken
    }

    /// Removes and returns all received descriptors.
    mutating func takeDescriptors() -> [Int32] {
        defer { descriptors = [] }
        return descriptors
    }
}
