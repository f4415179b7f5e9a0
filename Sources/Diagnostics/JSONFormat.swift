package import FoundationEssentials

/// The format of JSON for other programs: keys in snake case, as in job files (`frame_rate`), and sorted, so that
/// equal values result in equal text. Hidden and control characters are escaped.
package enum JSONFormat {
    /// The keys of objects.
    package enum Keys: Sendable {
        case snakeCase
        /// As in the program, for formats of others.
        case unchanged
    }

    /// Encodes a value as JSON; with `isLine`, in one line. Throws for numbers that JSON can't represent.
    package static func data(
        of value: some Encodable, isLine: Bool = false, keys: Keys = .snakeCase
    ) throws -> Data {
        let encoder = JSONEncoder()
        if keys == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isLine { encoder.outputFormatting.insert(.prettyPrinted) }
        return SafeText.json(try encoder.encode(value))
    }

    /// Encodes a value as JSON text that ends with a newline.
    package static func text(of value: some Encodable, keys: Keys = .snakeCase) throws -> String {
        String(decoding: try data(of: value, keys: keys), as: UTF8.self) + "\n"
    }

    /// Decodes a value that `data(of:)` encoded. Throws if the data isn't JSON of that type.
    package static func value<Value: Decodable>(_ type: Value.Type, of data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}
