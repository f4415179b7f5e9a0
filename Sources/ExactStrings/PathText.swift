extension StringProtocol {
    /// What stands between the slashes of a path, without what is empty. Byte by byte, as the system reads it: Swift takes a
    /// slash with a combining mark behind it for another character.
    public var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Begins with the very bytes of another one: `é` of one scalar is none of `é` of two.
    public func hasExactPrefix(_ other: some StringProtocol) -> Bool { utf8.starts(with: other.utf8) }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Where the last slash is, as the system reads it.
    public var lastSlash: String.Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }
}
