/// The URL scheme with its `://` at the start of a text, such as `s3://`. Paths don't have one: `a:b` and `file:/a` are
/// names of local files.
package struct URLScheme {
    /// The scheme as it is written, with its `://`; ASCII only.
    package let text: String

    /// Returns nil if the text doesn't start with a scheme.
    package init?(startOf text: some StringProtocol) {
        let bytes = text.utf8
        let name = bytes.prefix(while: Self.isPartOfName)
        guard let first = name.first, Self.isLetter(first),
            bytes[name.endIndex...].starts(with: "://".utf8)
        else { return nil }
        self.text = String(decoding: name, as: UTF8.self) + "://"
    }

    /// Returns whether a text can be continued so that it starts with a scheme.
    static func canStart(with text: some StringProtocol) -> Bool {
        let name = text.utf8.prefix(while: isPartOfName)
        guard let first = name.first else { return text.isEmpty }
        return isLetter(first) && "://".utf8.starts(with: text.utf8[name.endIndex...])
    }

    /// Help about the URL of a local file, whose path follows the scheme; nil for other schemes.
    var helpForFile: String? {
        text.lowercased() == "file://" ? "write only the path, without `\(text)`" : nil
    }

    /// Returns why a command-line option can't have a path; nil for a local path, or if there is none.
    package static func problem(of option: String, _ path: String?) -> String? {
        guard let path, let scheme = URLScheme(startOf: path) else { return nil }
        return "\(option) must be a local path, not the URL \(path)"
            + (scheme.helpForFile.map { "; " + $0 } ?? "")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || [0x2b, 0x2d, 0x2e].contains(byte)
    }
}
