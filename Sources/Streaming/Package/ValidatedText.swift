/// Text that matches a syntax, encoded as a string. Decoding fails for other text.
package protocol ValidatedText: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    var value: String { get }
    /// Creates a value; nil for text that doesn't match the syntax.
    init?(_ text: String)
}

extension ValidatedText {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a \(Self.self): \(text)"))
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    package var description: String { value }
}
