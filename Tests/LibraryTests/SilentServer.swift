import Dispatch
import Foundation

/// A server on the loopback interface that accepts connections and never answers.
final class SilentServer: Sendable {
    /// A URL whose reads block.
    let url: URL
    /// An element for each connection.
    let connections: AsyncStream<Void>
    private let listener: Int32

    struct Failure: Error {}

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        guard isListening, let url = URL(string: "http://127.0.0.1:\(port)/in.mp4") else { throw Failure() }
        self.url = url
        let (connections, continuation) = AsyncStream<Void>.makeStream()
        self.connections = connections
        Thread.detachNewThread { @Sendable in
            var accepted: [Int32] = []
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                accepted.append(connection)
                continuation.yield()
            }
            for connection in accepted { close(connection) }
            close(listener)
        }
    }

    /// Ends the server's thread, which closes the sockets.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
