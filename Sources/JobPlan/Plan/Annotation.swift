internal import Diagnostics

/// A value of a plan that doesn't determine the content of an output, such as a note, an estimate, a destination or the
/// handling of an existing file. All other values of a plan are its recipe.
///
/// The digest of a plan, by which an output is recognized as current, omits annotations. Other encodings contain the
/// value itself, and omit nil.
@propertyWrapper
public struct Annotation<Value: Codable & Hashable & Sendable>: Hashable, Sendable {
    /// The annotated value.
    public var wrappedValue: Value

    /// Creates an annotation with a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Annotation: Codable {
    /// Decodes the value (`Decodable`).
    public init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }

    /// Encodes the value, or nothing for a digest (`Encodable`).
    public func encode(to encoder: any Encoder) throws {
        guard encoder.userInfo[.omitsAnnotations] == nil else { return }
        try wrappedValue.encode(to: encoder)
    }
}

extension KeyedEncodingContainer {
    /// Encodes an optional annotation, and nothing if it is nil.
    mutating func encode<Value>(_ value: Annotation<Value?>, forKey key: Key) throws {
        guard value.wrappedValue != nil else { return }
        try encode(Annotation<Value?>.Present(annotation: value), forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional annotation; a missing one is nil.
    func decode<Value>(_ type: Annotation<Value?>.Type, forKey key: Key) throws -> Annotation<Value?> {
        Annotation(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

extension Annotation {
    /// An annotation that isn't nil. A separate type, because encoding the annotation itself under its key would
    /// recurse.
    fileprivate struct Present: Encodable {
        let annotation: Annotation
        func encode(to encoder: any Encoder) throws { try annotation.encode(to: encoder) }
    }
}
