/// A codec with its profile as manifests name it (RFC 6381), such as `avc1.64001f`.
package struct CodecString: ValidatedText {
    package let value: String

    /// Creates a string of one codec; nil for characters that RFC 6381 doesn't allow without encoding.
    package init?(_ value: String) {
        let isValid = value.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
        guard isValid, !value.isEmpty, value.utf8.count <= 64 else { return nil }
        self.value = value
    }

    /// Creates a string from text that this module formats.
    init(formatted value: String) { self.value = value }

    /// The four-character code of the sample entry.
    var family: String { String(value.prefix { $0 != "." }) }

    /// The string in HLS, where Apple's players know MP3 by its MPEG-4 object type only.
    var hls: String { value == "mp4a.6B" || value == "mp4a.69" ? "mp4a.40.34" : value }

    /// Short name of an audio format, for ids.
    var formatName: String {
        switch value {
        case "mp4a.40.2": "aac"
        case "mp4a.40.5", "mp4a.40.29": "he-aac"
        case "mp4a.6B", "mp4a.69", "mp4a.40.34": "mp3"
        default: family.lowercased()
        }
    }
}
