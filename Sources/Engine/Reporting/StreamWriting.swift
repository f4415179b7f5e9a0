internal import Glibc

package enum StreamWriting {
    /// Writes a text, retrying partial writes. Returns the `errno` of a failure; nil on success.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Int32? {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if put > 0 { done += put } else if errno != EINTR { return errno }
        }
        return nil
    }
}
