/// The source of a job with its description: probed, generated, or predicted from the job that creates it.
struct ResolvedInput {
    let source: InputPlan.Source
    var description: SourceDescription
    /// A composition with its source map; nil for any other source.
    var composed: ComposedSource?

    init(_ source: InputPlan.Source, _ description: SourceDescription, composed: ComposedSource? = nil) {
        (self.source, self.description, self.composed) = (source, description, composed)
    }
}
