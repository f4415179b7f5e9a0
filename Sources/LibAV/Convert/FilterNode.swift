/// A filter of a graph with the sources of its inputs.
package struct FilterNode: Hashable, Sendable {
    /// The source of an input.
    public enum Source: Hashable, Sendable {
        /// One of the graph's inputs.
        case input(Int)
        /// The output of an earlier node.
        case node(Int)
    }

    /// The filter.
    package var step: FilterStep
    /// The source of each input.
    package var inputs: [Source]

    /// Creates a node.
    package init(_ step: FilterStep, inputs: [Source]) {
        self.step = step
        self.inputs = inputs
    }

    /// Returns a chain of filters, of which the first has `inputs` inputs.
    static func chain(_ steps: [FilterStep], of inputs: Int) -> [FilterNode] {
        steps.enumerated().map { index, step in
            FilterNode(step, inputs: index > 0 ? [.node(index - 1)] : (0..<inputs).map(Source.input))
        }
    }
}

extension FilterStep {
    /// Returns a `scale` without flags with additional options; any other filter unchanged.
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
