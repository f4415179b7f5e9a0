/// A filter of a graph, and the connections of its inputs.
package struct FilterNode: Hashable, Sendable {
    /// The source of an input.
    package enum Source: Hashable, Sendable {
        /// The input of the graph at an index.
        case input(Int)
        /// The output of the node at an index, which must be an earlier one.
        case node(Int)
    }

    package var step: FilterStep
    /// Source of each input, in the order of the filter's input pads.
    package var inputs: [Source]

    package init(_ step: FilterStep, inputs: [Source]) {
        self.step = step
        self.inputs = inputs
    }

    /// Returns the nodes of a chain of filters. The graph's inputs are the `inputs` inputs of the first filter.
    static func chain(_ steps: [FilterStep], of inputs: Int) -> [FilterNode] {
        steps.enumerated().map { index, step in
            FilterNode(step, inputs: index > 0 ? [.node(index - 1)] : (0..<inputs).map(Source.input))
        }
    }
}

extension FilterStep {
    /// Returns a `scale` filter without `flags` with additional default options, or any other filter unchanged.
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
