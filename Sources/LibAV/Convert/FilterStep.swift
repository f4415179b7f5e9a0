/// A filter with named options, from which graphs are created. libavfilter never parses it as text.
public struct FilterStep: Hashable, Codable, Sendable {
    /// The filter's libavfilter name.
    public var name: String
    /// The options; each value is set unchanged (`av_opt_set`).
    public var options: [MetadataEntry]

    /// Creates a step.
    public init(_ name: String, options: [MetadataEntry] = []) {
        self.name = name
        self.options = options
    }

    /// Creates a step with options in order.
    public init(_ name: String, _ options: KeyValuePairs<String, String>) {
        self.init(name, options: options.map { MetadataEntry(key: $0.key, value: $0.value) })
    }

    /// Returns a filter that changes the volume of audio in double precision. `gain` has libavfilter's syntax.
    public static func volume(_ gain: String) -> FilterStep {
        FilterStep("volume", ["volume": gain, "precision": "double"])
    }
}

/// A chain of filters, each with one input and one output.
public struct FilterChain: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The filters in order.
    public var steps: [FilterStep]

    /// Creates a chain.
    public init(_ steps: [FilterStep]) { self.steps = steps }

    /// Returns the chain followed by other filters.
    public func followed(by other: [FilterStep]) -> FilterChain { FilterChain(steps + other) }

    /// The chain in libavfilter's syntax, for display. Values with special characters are quoted.
    public var description: String {
        steps.map { step in
            let options = step.options.map { "\($0.key)=\(Self.quoted($0.value))" }
            return options.isEmpty ? step.name : "\(step.name)=\(options.joined(separator: ":"))"
        }.joined(separator: ",")
    }

    private static func quoted(_ value: String) -> String {
        value.contains { ":,'\\".contains($0) } ? "'\(value)'" : value
    }
}
