/// One filter with its options, each by its name: what a graph is made of. No text of it is ever parsed by libavfilter.
public struct FilterStep: Hashable, Codable, Sendable {
    /// The filter's libavfilter name.
    public var name: String
    /// Its options; each is set as it stands here (`av_opt_set`).
    public var options: [MetadataEntry]

    /// Makes a step.
    public init(_ name: String, options: [MetadataEntry] = []) {
        self.name = name
        self.options = options
    }

    /// Makes a step of options in their order.
    public init(_ name: String, _ options: KeyValuePairs<String, String>) {
        self.init(name, options: options.map { MetadataEntry(key: $0.key, value: $0.value) })
    }

    /// Makes audio louder or quieter, computed in double precision.
    public static func volume(_ gain: String) -> FilterStep {
        FilterStep("volume", ["volume": gain, "precision": "double"])
    }
}

/// Filters one behind the other, each with one input and one output.
public struct FilterChain: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The filters.
    public var steps: [FilterStep]

    /// Makes a chain.
    public init(_ steps: [FilterStep]) { self.steps = steps }

    /// The chain with another one behind it.
    public func followed(by other: [FilterStep]) -> FilterChain { FilterChain(steps + other) }

    /// How it is written, for people: what has marks of its own stands in quotes.
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
