/// A reference from a manifest to a file of the package.
enum PackageReference {
    /// Returns the path, relative to the package's folder, of the file that a URI in `manifest` names.
    ///
    /// - Throws: `PackageReadingError` if the URI isn't that of a file beneath the package's folder.
    static func path(
        _ uri: some StringProtocol, in manifest: String, base: String? = nil, line: Int?
    ) throws(PackageReadingError) -> String {
        func refuse(_ reason: String) -> PackageReadingError {
            PackageReadingError(manifest, line: line, "`\(uri.prefix(200))` \(reason)")
        }
        let bytes = Array(uri.utf8)
        guard !bytes.isEmpty else { throw PackageReadingError(manifest, line: line, "an empty URI") }
        if hasScheme(bytes) || bytes.starts(with: Array("//".utf8)) {
            throw refuse("is a URL; only files beneath the package's folder are read")
        }
        guard bytes.first != UInt8(ascii: "/") else {
            throw refuse("is an absolute path; only files beneath the package's folder are read")
        }
        let plain = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let decoded = decoded(plain) else { throw refuse("isn't a valid URI") }
        var parts = folder(base ?? manifest)
        for part in decoded.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
            switch String(decoding: part, as: UTF8.self) {
            case ".": continue
            case "..":
                guard parts.popLast() != nil else { throw refuse("is outside of the package's folder") }
            case let name: parts.append(name)
            }
        }
        guard !parts.isEmpty, parts.count <= 64, decoded.count <= 4096 else {
            throw refuse("doesn't name a file")
        }
        return parts.joined(separator: "/")
    }

    /// Returns the folders of a path to a file.
    private static func folder(_ path: String) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().map(String.init)
        return parts.filter { !$0.isEmpty }
    }

    /// Whether a URI begins with a scheme, such as `https:`.
    private static func hasScheme(_ bytes: [UInt8]) -> Bool {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return bytes[..<colon].allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2d, 0x2e: true
            default: false
            }
        }
    }

    /// Returns the bytes with escapes such as `%20` replaced; nil if an escape is invalid, or for NUL and invalid UTF-8.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result.contains(0) || String(validating: result, as: UTF8.self) == nil ? nil : result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
