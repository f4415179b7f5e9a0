internal import Diagnostics
internal import YAMLDocument

/// The expansion of one job to instances before decoding: one for each combination of its matrix and each
/// file of its asset.
struct MatrixExpansion {
    private let definition: BatchDefinition
    private let reader: NodeReader
    private let patterns: PatternExpansion

    init(definition: BatchDefinition, reader: NodeReader, matches: PatternExpansion.Matches?) {
        (self.definition, self.reader) = (definition, reader)
        patterns = PatternExpansion(definition: definition, reader: reader, matches: matches)
    }

    private var assets: AssetBinding { AssetBinding(reader: reader, definition: definition) }
    private var unresolved: UnresolvedJobCheck { UnresolvedJobCheck(definition: definition, reader: reader) }

    /// Returns the instances of the job at an index, numbered from 1; empty after an error.
    func instances(ofJob index: Int) -> [JobInstance] {
        let base = definition.bases[index]
        guard case .mapping = base.node.content else {
            reader.sink.error(
                .wrongType, "a job must be a mapping, not \(base.node.kind)", at: base.node.range)
            return []
        }
        // The values of misspelt keys are checked as well; decoding reports the misspelling.
        let node = NodeReader.respelled(base.node, as: Language.job)
        guard
            let combinations = Matrix.combinations(
                node[key: "matrix"], limit: definition.limits.combinations, scope: definition.scope,
                reader: reader)
        else {
            unresolved.check(
                base, [], hasMatrix: false, properties: unresolved.checkAsset(of: node, in: base))
            return []
        }
        guard let asset = node[key: "asset"] ?? node[key: "composition"] else {
            unresolved.check(base, combinations[0], hasMatrix: true)
            return []
        }
        if combinations.count > 1,
            !definition.allowsNodes(ofInstances: combinations.count, ofJob: index, reader: reader)
        {
            return []
        }
        Matrix.reportUnusedKeys(of: node, in: definition, reader: reader)
        let isComposed = base.node[key: "asset"] == nil && node[key: "asset"] == nil
        var instances: [JobInstance] = []
        // An asset that is the same in all combinations is decoded once and shared.
        let isShared = combinations.count > 1 && !Substitution.dependsOnInstance(asset)
        var shared: (AssetSpec, Located<String>?)?
        var files: PatternExpansion.FileList?
        var isDecoded = false
        for combination in combinations {
            let label = combination.map { "\($0.key)=\(InstanceName.encoded($0.value.text))" }
            let scope = definition.scope(ofJob: base.id.value, combination: combination)
            if !isDecoded || !isShared {
                isDecoded = true
                files = nil
                let node = Substitution(scope: scope, reader: reader).apply(to: asset)
                shared =
                    isComposed
                    ? assets.composition(node).map({ ($0, nil) }) : assets.asset(node)
            }
            guard let (spec, id) = shared else {
                unresolved.check(base, combination, hasMatrix: true)
                continue
            }
            let properties = AssetProperties(of: spec, id: id, definition: definition)
            // All ids are checked, so that each unknown one is reported.
            let isUnknown = spec.readJobs.map { definition.hasJob($0, reader: reader) }.contains(false)
            if isUnknown {
                unresolved.check(base, combination, hasMatrix: true, properties: properties)
                continue
            }
            let instance = JobInstance(
                base: index, combination: combination, label: label, asset: spec, assetID: id,
                properties: properties)
            guard let expanded = patterns.instances(of: instance, besides: instances.count, &files) else {
                return []
            }
            instances += expanded
        }
        for position in instances.indices { instances[position].index = position + 1 }
        return instances
    }
}
