internal import Media
internal import YAMLDocument

/// Validation of a job that has no instances, because its asset or matrix is invalid. The other keys are
/// validated like those of a valid job.
struct UnresolvedJobCheck {
    let definition: BatchDefinition
    let reader: NodeReader

    /// Reports errors of a job: decodes it with a placeholder for its asset, and discards the result.
    /// `isPartial` states that the node is a part of a job, in which no key is required.
    func check(
        _ base: BatchDefinition.JobNode, _ combination: Matrix.Combination, hasMatrix: Bool,
        properties: AssetProperties? = nil, isPartial: Bool = false
    ) {
        var scope = definition.scope(ofJob: base.id.value, combination: combination, index: 1)
        let placeholder = AssetSpec(source: .file(base.id), timing: .fast, range: base.id.range)
        scope.asset = properties ?? AssetProperties.unknown
        scope.isMatrixUnknown = !hasMatrix
        _ = JobDecoder(
            reader: reader, definition: definition, scope: scope, asset: placeholder, assetID: nil,
            id: base.id, base: base.id.value, isTemplate: true, isPartial: isPartial
        ).job(base.node)
    }

    /// Reports errors of the asset or the composition of a job whose matrix is invalid, and returns the known
    /// properties of the asset.
    func checkAsset(of node: YAMLNode, in base: BatchDefinition.JobNode) -> AssetProperties? {
        var scope = definition.scope(ofJob: base.id.value)
        scope.isMatrixUnknown = true
        let assets = AssetBinding(reader: reader, definition: definition)
        let substitution = Substitution(scope: scope, reader: reader)
        if let asset = node[key: "asset"] {
            let bound = assets.asset(substitution.apply(to: asset))
            for id in bound?.0.readJobs ?? [] { _ = definition.hasJob(id, reader: reader) }
            return bound.map { AssetProperties(of: $0.0, id: $0.1, definition: definition) }
        }
        guard let written = node[key: "composition"] else { return nil }
        let spec = assets.composition(substitution.apply(to: written))
        for id in spec?.readJobs ?? [] { _ = definition.hasJob(id, reader: reader) }
        return spec.map { AssetProperties(of: $0, id: nil, definition: definition) }
    }
}
