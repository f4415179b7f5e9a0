/// Reads the attributes of a playlist tag (RFC 8216bis, 4.2).
struct AttributeListReader {
    private var values: [String: String] = [:]

    /// Reads `NAME=value,NAME="value"`; nil if the text has another syntax.
    init?(_ text: Substring.UTF8View) {
        var rest = text
        while !rest.isEmpty {
            guard let equal = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(decoding: rest[..<equal], as: UTF8.self)
            rest = rest[rest.index(after: equal)...]
            let value: Substring.UTF8View
            if rest.first == UInt8(ascii: "\"") {
                rest = rest.dropFirst()
                guard let quote = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
                value = rest[..<quote]
                rest = rest[rest.index(after: quote)...]
            } else {
                let comma = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
                value = rest[..<comma]
                rest = rest[comma...]
            }
            guard values.updateValue(String(decoding: value, as: UTF8.self), forKey: name.trimmed) == nil,
                values.count <= 100
            else { return nil }
            guard let comma = rest.first else { return }
            guard comma == UInt8(ascii: ",") else { return nil }
            rest = rest.dropFirst()
        }
    }

    subscript(_ name: String) -> String? { values[name] }
}

extension String {
    /// The text without spaces at both ends.
    var trimmed: String {
        let spaces: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        var bytes = utf8[...]
        while let first = bytes.first, spaces.contains(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, spaces.contains(last) { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
