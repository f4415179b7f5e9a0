/// Percent-encoding of URIs (RFC 3986): everything except for unreserved characters is encoded.
package enum PercentEncoding {
    /// Returns a component of a path, in which slashes are encoded too.
    package static func component(_ bytes: some Sequence<UInt8>) -> String { encoded(bytes, keeping: nil) }

    /// Returns a path with its slashes.
    package static func path(_ path: String) -> String { encoded(path.utf8, keeping: 0x2f) }

    private static func encoded(_ bytes: some Sequence<UInt8>, keeping kept: UInt8?) -> String {
        bytes.reduce(into: "") { text, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e, kept:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += (byte < 16 ? "%0" : "%") + digits
            }
        }
    }
}
