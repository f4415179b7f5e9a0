/// A libavfilter filter with its options. Options are set individually, so that values need no escaping.
public struct FilterStep: Hashable, Codable, Sendable {
    /// Name of the filter in libavfilter.
    public var name: String
    /// Options in the order in which they are set; values are passed unchanged (`avfilter_init_dict`).
    public var options: [MetadataEntry]

    /// Creates a step from a filter name and an array of options.
    public init(_ name: String, options: [MetadataEntry] = []) {
        self.name = name
        self.options = options
    }

    /// Creates a step from a filter name and a literal of options, whose order is kept.
    public init(_ name: String, _ options: KeyValuePairs<String, String>) {
        self.init(name, options: options.map { MetadataEntry(key: $0.key, value: $0.value) })
    }

    /// Returns a filter that changes the volume of audio in double precision. `gain` is an expression in
    /// libavfilter's syntax (`0.5`, `-6dB`).
    package static func volume(_ gain: String) -> FilterStep {
        FilterStep("volume", ["volume": gain, "precision": "double"])
    }
}

/// A chain of filters, each with one input and one output.
public struct FilterChain: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Filters in processing order.
    public var steps: [FilterStep]

    /// Creates a chain from filters in processing order.
    public init(_ steps: [FilterStep]) { self.steps = steps }

    /// Returns the chain with other filters appended.
    package func followed(by other: [FilterStep]) -> FilterChain { FilterChain(steps + other) }

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
