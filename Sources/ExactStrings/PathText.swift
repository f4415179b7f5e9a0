extension StringProtocol {
    /// Non-empty components of a path. The path is split by bytes, as the system does: in Swift, a slash followed by
    /// a combining mark is a different character than a slash.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// File name, split at its last dot. A name whose only dot is its first character has no extension.
    package var nameParts: (stem: String, ending: String?) {
        guard utf8.contains(UInt8(ascii: ".")), let dot = lastIndex(of: "."), dot != startIndex else {
            return (String(self), nil)
        }
        return (String(self[..<dot]), String(self[index(after: dot)...]))
    }

    /// Returns whether the string begins with the bytes of another one: `é` as one scalar doesn't match `é` as two.
    package func hasExactPrefix(_ other: some StringProtocol) -> Bool { utf8.starts(with: other.utf8) }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Index of the last slash, searched by bytes.
    package var lastSlash: String.Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The path of the folder that contains a path: `.` for a name without a slash, `/` for an entry of the root folder.
    package var parentFolder: String {
        guard let slash = lastSlash else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
