extension StringProtocol {
    /// What stands between the slashes of a path, without what is empty. Byte by byte, as the system reads it: Swift takes a
    /// slash with a combining mark behind it for another character.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A file's name taken apart at its last dot. What begins with its only dot has no ending.
    package var nameParts: (stem: String, ending: String?) {
        guard let dot = lastIndex(of: "."), dot != startIndex else { return (String(self), nil) }
        return (String(self[..<dot]), String(self[index(after: dot)...]))
    }

    /// Begins with the very bytes of another one: `é` of one scalar is none of `é` of two.
    package func hasExactPrefix(_ other: some StringProtocol) -> Bool { utf8.starts(with: other.utf8) }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Where the last slash is, as the system reads it.
    package var lastSlash: String.Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }
}
