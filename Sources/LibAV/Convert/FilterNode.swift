/// A filter of a graph, and where each of its inputs comes from.
package struct FilterNode: Hashable, Sendable {
    /// Where frames come from.
    public enum Source: Hashable, Sendable {
        /// One of the graph's inputs.
        case input(Int)
        /// The output of a node that stands before.
        case node(Int)
    }

    /// The filter.
    package var step: FilterStep
    /// One for each of its inputs.
    package var inputs: [Source]

    /// Makes a node.
    package init(_ step: FilterStep, inputs: [Source]) {
        self.step = step
        self.inputs = inputs
    }

    /// Filters one behind the other, of which the first one has so many inputs.
    static func chain(_ steps: [FilterStep], of inputs: Int) -> [FilterNode] {
        steps.enumerated().map { place, step in
            FilterNode(step, inputs: place > 0 ? [.node(place - 1)] : (0..<inputs).map(Source.input))
        }
    }
}

extension FilterStep {
    /// A `scale` that isn't told how, told so.
    func scaling(as options: [MetadataEntry]) -> FilterStep {
        guard name == "scale", !self.options.contains(where: { ["flags", "sws_flags"].contains($0.key) })
        else { return self }
        return FilterStep(
            name,
            options: self.options
                + options.filter { option in
                    !self.options.contains { $0.key == option.key }
                })
    }
}
