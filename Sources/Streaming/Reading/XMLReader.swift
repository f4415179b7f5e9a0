/// An element of an XML document, without namespaces and comments.
struct XMLNode {
    /// Name without a prefix.
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [XMLNode] = []
    var text = ""

    /// Returns the children with a name.
    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }
    /// Returns the first child with a name; nil if there is none.
    func first(_ name: String) -> XMLNode? { children.first { $0.name == name } }
}

/// A reader of the part of XML that MPDs use: elements, attributes, text, predefined entities and character references.
/// Document types, which could define entities, are refused.
struct XMLReader {
    private var rest: ArraySlice<UInt8>
    private let path: String
    private var line = 1

    /// Returns the root element of a document.
    static func root(_ bytes: [UInt8], of path: String) throws(PackageReadingError) -> XMLNode {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw PackageReadingError(path, "the document isn't UTF-8")
        }
        var reader = XMLReader(rest: bytes[...], path: path)
        return try reader.document()
    }

    private func error(_ reason: String) -> PackageReadingError {
        PackageReadingError(path, line: line, reason)
    }

    private mutating func document() throws(PackageReadingError) -> XMLNode {
        var stack: [XMLNode] = []
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        while true {
            let text = take { $0 != UInt8(ascii: "<") }
            guard !rest.isEmpty else { throw error("the document isn't complete") }
            if let last = stack.indices.last {
                stack[last].text += try unescaped(text)
            } else if !String(decoding: text, as: UTF8.self).trimmed.isEmpty {
                throw error("text outside of the root element")
            }
            if skip("<!--") {
                try skip(past: "-->")
            } else if skip("<![CDATA[") {
                let start = rest
                try skip(past: "]]>")
                if let last = stack.indices.last {
                    let content = start[start.startIndex..<rest.startIndex].dropLast(3)
                    stack[last].text += String(decoding: content, as: UTF8.self)
                }
            } else if skip("<?") {
                try skip(past: "?>")
            } else if skip("<!") {
                throw error("document types are not supported")
            } else if skip("</") {
                let name = try name()
                skipSpace()
                guard skip(">"), let closed = stack.popLast(), closed.name == name else {
                    throw error("unexpected end of `\(name.prefix(40))`")
                }
                guard let parent = stack.indices.last else { return closed }
                stack[parent].children.append(closed)
            } else {
                let (node, isEmpty) = try element()
                guard stack.count < ReadingLimits.depth else {
                    throw error("elements are nested more than \(ReadingLimits.depth) deep")
                }
                if !isEmpty {
                    stack.append(node)
                } else if let parent = stack.indices.last {
                    stack[parent].children.append(node)
                } else {
                    return node
                }
            }
        }
    }

    private mutating func element() throws(PackageReadingError) -> (node: XMLNode, isEmpty: Bool) {
        _ = skip("<")
        let start = line
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if skip("/>") {
                return (XMLNode(name: name, attributes: attributes, line: start), true)
            }
            if skip(">") { return (XMLNode(name: name, attributes: attributes, line: start), false) }
            let attribute = try self.name()
            skipSpace()
            guard skip("=") else { throw error("`\(attribute.prefix(40))` has no value") }
            skipSpace()
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw error("the value of `\(attribute.prefix(40))` isn't quoted")
            }
            rest = rest.dropFirst()
            let value = take { $0 != quote && $0 != UInt8(ascii: "<") }
            guard rest.first == quote else { throw error("the document isn't complete") }
            rest = rest.dropFirst()
            guard attributes.updateValue(try unescaped(value), forKey: attribute) == nil,
                attributes.count <= 100
            else { throw error("repeated attribute `\(attribute.prefix(40))`") }
        }
    }

    /// Reads a name and returns it without its prefix.
    private mutating func name() throws(PackageReadingError) -> String {
        let bytes = take { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x3a, 0x80...0xff: true
            default: false
            }
        }
        let name = bytes.split(separator: UInt8(ascii: ":")).last
        if rest.isEmpty { throw error("the document isn't complete") }
        guard let name, bytes.count <= 200 else { throw error("the document isn't XML") }
        return String(decoding: name, as: UTF8.self)
    }

    // MARK: Bytes

    private mutating func take(_ isIncluded: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let end = rest.firstIndex { !isIncluded($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        let taken = rest[..<end]
        line += taken.count { $0 == UInt8(ascii: "\n") }
        return taken
    }

    private mutating func skipSpace() { _ = take { [0x20, 0x09, 0x0a, 0x0d].contains($0) } }

    private mutating func skip(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes in
            guard rest.starts(with: bytes) else { return false }
            rest = rest.dropFirst(bytes.count)
            return true
        }
    }

    private mutating func skip(past end: StaticString) throws(PackageReadingError) {
        while !skip(end) {
            guard let byte = rest.popFirst() else { throw error("the document isn't complete") }
            if byte == UInt8(ascii: "\n") { line += 1 }
        }
    }

    /// Returns text with references replaced.
    private func unescaped(_ bytes: ArraySlice<UInt8>) throws(PackageReadingError) -> String {
        guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
        var result = ""
        var rest = bytes
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != UInt8(ascii: "&") }
            result += String(decoding: plain, as: UTF8.self)
            rest = rest[plain.endIndex...]
            guard rest.popFirst() != nil else { break }
            let reference = rest.prefix(12).prefix { $0 != UInt8(ascii: ";") }
            guard let character = Self.character(String(decoding: reference, as: UTF8.self)),
                rest.dropFirst(reference.count).first == UInt8(ascii: ";")
            else { throw error("unknown entity") }
            result.unicodeScalars.append(character)
            rest = rest.dropFirst(reference.count + 1)
        }
        return result
    }

    private static func character(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard reference.hasPrefix("#") else { return nil }
        let digits = reference.dropFirst()
        let number =
            digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }
}
