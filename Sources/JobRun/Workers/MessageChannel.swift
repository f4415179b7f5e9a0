internal import BinaryCoding
internal import CLinux
internal import Glibc
internal import Locking

/// One end of a socket that carries messages, each after its length, and descriptors.
final class MessageChannel: Sendable {
    /// A message is never longer; a worker that says so is broken.
    static let limit = 64 << 20

    let descriptor: Int32
    private let sending = Guarded(())

    /// The descriptor is the channel's from here on.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sends a message; false where nobody is there any more, or takes it.
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

/// Bytes of a channel as they come in, and the messages in them.
struct MessageBuffer {
    private var bytes: [UInt8] = []
    /// Descriptors that came, in their order.
    private(set) var descriptors: [Int32] = []

    /// What came of a read.
    enum Arrival {
        /// Bytes.
        case some
        /// Nothing yet.
        case nothing
        /// The other end is gone.
        case end
    }

    /// Reads what there is, or with `waits` what comes.
    mutating func fill(from descriptor: Int32, waits: Bool = true) -> Arrival {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var received = [Int32](repeating: -1, count: 64)
        var count = received.count
        let got = tandem_receive(descriptor, &buffer, buffer.count, &received, &count, waits ? 1 : 0)
        if got < 0 { return errno == EINTR ? .some : errno == EAGAIN ? .nothing : .end }
        descriptors += received.prefix(count)
        bytes += buffer.prefix(got)
        return got == 0 ? .end : .some
    }

    /// The next whole message; nil while it is not there. Throws where it can't be one.
    mutating func next<Message: Decodable>(_ type: Message.Type) throws -> Message? {
        guard bytes.count >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
        guard length <= MessageChannel.limit else { throw StateError("a message of \(length) bytes") }
        guard bytes.count >= 4 + length else { return nil }
        let body = Array(bytes[4..<4 + length])
        bytes.removeFirst(4 + length)
        return try BinaryDecoder().decode(type, from: body)
    }

    /// Takes the first descriptors that came: behind them may be those of the next message.
    mutating func takeDescriptors(_ count: Int) -> [Int32] {
        let taken = Array(descriptors.prefix(max(0, count)))
        descriptors.removeFirst(taken.count)
        return taken
    }

    /// Takes the descriptors that came.
    mutating func takeDescriptors() -> [Int32] {
        defer { descriptors = [] }
        return descriptors
    }
}
