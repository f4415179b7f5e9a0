package import FoundationEssentials

/// The JSON that is written for other programs: keys as in job files (`frame_rate`), sorted, so that equal
/// values have equal text, and without terminal control characters.
package enum JSONFormat {
    /// Encodes a value as JSON; with `isLine`, in one line. Throws for numbers that JSON can't represent.
    package static func data(of value: some Encodable, isLine: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isLine { encoder.outputFormatting.insert(.prettyPrinted) }
        return SafeText.json(try encoder.encode(value))
    }

    /// Encodes a value as JSON text that ends with a newline.
    package static func text(of value: some Encodable) throws -> String {
        String(decoding: try data(of: value), as: UTF8.self) + "\n"
    }

    /// Decodes a value that `data(of:)` encoded. Throws if the data are no such value.
    package static func value<Value: Decodable>(_ type: Value.Type, of data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}
