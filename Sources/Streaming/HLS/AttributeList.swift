/// The attributes of a playlist tag (RFC 8216bis, 4.2), in order.
struct AttributeList {
    private(set) var text = ""

    /// Adds an attribute with a value that isn't quoted: a number, a size or an enumerated word.
    mutating func add(_ name: String, _ value: some CustomStringConvertible) {
        text += (text.isEmpty ? "" : ",") + "\(name)=\(value)"
    }

    /// Adds an attribute with a quoted string.
    mutating func add(_ name: String, quoted value: String) { add(name, "\"\(Self.quotable(value))\"") }

    /// Adds a quoted string unless it is nil.
    mutating func add(_ name: String, quoted value: String?) {
        if let value { add(name, quoted: value) }
    }

    /// Returns text with characters replaced that a quoted string can't contain: quotes, for which HLS has no escapes,
    /// and control characters.
    static func quotable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: result.append("'")
            case 0...0x1f, 0x7f...0x9f, 0x2028, 0x2029, 0xfeff: result.append(" ")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
