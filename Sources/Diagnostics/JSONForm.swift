package import FoundationEssentials

/// The JSON that the program writes for others: keys as in job files (`frame_rate`), sorted, so that it is the same from
/// run to run, and with nothing in it that a terminal would take for a command.
package enum JSONForm {
    /// A value as JSON; `isLine` leaves out what is there for people's eyes. Throws for numbers that JSON has no form of.
    package static func data(of value: some Encodable, isLine: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isLine { encoder.outputFormatting.insert(.prettyPrinted) }
        return SafeText.json(try encoder.encode(value))
    }

    /// The same as text that ends its line.
    package static func text(of value: some Encodable) throws -> String {
        String(decoding: try data(of: value), as: UTF8.self) + "\n"
    }

    /// What `data(of:)` wrote. Throws where it is something else.
    package static func value<Value: Decodable>(_ type: Value.Type, of data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }
}
