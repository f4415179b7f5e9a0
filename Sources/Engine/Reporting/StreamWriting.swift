internal import Glibc

/// Writing of text to descriptors.
package enum StreamWriting {
    /// Writes all of a text; returns the `errno` of the call that failed, nil where none did.
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
