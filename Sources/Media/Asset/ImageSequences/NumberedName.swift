/// A file name with a `printf` placeholder for a number: `%d`, or `%05d` with leading zeros; `%%` is a percent sign.
package struct NumberedName: Sendable {
    /// The folder, with its trailing slash.
    private let folder: String
    /// Text before and after the number.
    private let prefix: String
    private let suffix: String
    /// Minimum number of digits.
    private let width: Int

    /// Regular expression for valid paths.
    package static let pattern = "^([^%]*/)?([^%/]|%%)*%(0([1-9]|1[0-8]))?d([^%/]|%%)*$"

    /// Parses a path; nil if it has no placeholder, several placeholders, or one in a folder name.
    package init?(path: String) {
        let cut =
            path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        folder = String(path[..<cut])
        guard !folder.contains("%") else { return nil }
        var (before, after, found, width) = ("", "", false, 0)
        var rest = path[cut...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                if found { after.append(character) } else { before.append(character) }
                continue
            }
            if rest.first == "%" {
                rest.removeFirst()
                if found { after.append("%") } else { before.append("%") }
                continue
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            let isPlain =
                digits.isEmpty || digits.count <= 3 && digits.hasPrefix("0") && !digits.hasPrefix("00")
            guard !found, isPlain, rest.popFirst() == "d",
                let count = digits.isEmpty ? 0 : Int(digits), digits.isEmpty || (1...18).contains(count)
            else { return nil }
            (found, width) = (true, count)
        }
        guard found else { return nil }
        (prefix, suffix, self.width) = (before, after, width)
    }

    /// The folder of the files.
    package var directory: String { folder.isEmpty ? "." : folder }

    /// Returns the path for a number.
    package func path(_ number: Int) -> String {
        let digits = "\(number)"
        let zeros = String(repeating: "0", count: max(0, width - digits.utf8.count))
        return folder + prefix + zeros + digits + suffix
    }

    /// Returns the number in a path; nil if the path doesn't match.
    package func number(ofPath path: String) -> Int? {
        guard path.utf8.starts(with: folder.utf8) else { return nil }
        return number(of: String(path.utf8.dropFirst(folder.utf8.count)) ?? "")
    }

    /// Returns the number in a file name; nil if the name doesn't match.
    package func number(of name: String) -> Int? {
        guard name.utf8.count > prefix.utf8.count + suffix.utf8.count,
            name.utf8.starts(with: prefix.utf8), name.utf8.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.count <= 15,
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        // Only the canonical notation matches, so that each number has exactly one name.
        return digits.count == max(width, "\(number)".utf8.count) ? number : nil
    }
}
