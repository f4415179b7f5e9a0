internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Validation of `defaults`.
struct DefaultsCheck {
    let definition: BatchDefinition
    let reader: NodeReader

    /// Reports errors in parts of `defaults` that every job overrides. Parts that jobs inherit are validated with those
    /// jobs, and their errors are not repeated. Missing keys that only a complete job requires are not errors.
    func check(_ node: YAMLNode) {
        guard case .mapping(let entries) = node.content else { return }
        let ownReader = NodeReader()
        let base = BatchDefinition.JobNode(
            id: Located("defaults", at: node.range), node: NodeReader.respelled(node, as: Language.job))
        let matrix = base.node[key: "matrix"]
        let combination = Matrix.combinations(
            matrix, limit: definition.limits.combinations, scope: definition.scope, reader: ownReader)?.first
        let hasMatrix = matrix != nil && combination != nil
        UnresolvedJobCheck(definition: definition, reader: ownReader).check(
            base, combination ?? [], hasMatrix: hasMatrix, isPartial: true)
        checkReferences(of: base.node, combination ?? [], hasMatrix: hasMatrix, ownReader)
        let known = Set(reader.sink.diagnostics.map(\.range))
        let lists = Self.lists(in: base.node)
        for diagnostic in ownReader.sink.diagnostics where !known.contains(diagnostic.range) {
            // An invalid value is always an error. A conflict with another key is an error only if no job can resolve
            // it, which applies to lists, because they are replaced as a whole.
            let isInList = lists.contains { $0.contains(diagnostic.range) }
            // `images` may lack keys: a job with `tracks` doesn't inherit it, and a job with `images` can add them.
            let isInKind = OutputKindKey.names { !$0.isMedia }.contains {
                base.node[key: $0]?.range.contains(diagnostic.range) == true
            }
            // A composition is replaced as a whole.
            let isInComposition =
                base.node[key: "composition"]?.range.contains(diagnostic.range) == true
            let isEmptyEntry = entries.contains { $0.value.isNull && $0.keyRange == diagnostic.range }
            guard
                Self.singleValueRules.contains(diagnostic.rule) || isInComposition || isEmptyEntry
                    || isInList && Self.listRules.contains(diagnostic.rule)
                    || isInKind && [.unknownKey, .conflictingKeys].contains(diagnostic.rule)
            else { continue }
            reader.sink.add(diagnostic)
        }
    }

    /// Reports unknown jobs and outputs in `asset` and `composition` of `defaults`.
    private func checkReferences(
        of defaults: YAMLNode, _ combination: Matrix.Combination, hasMatrix: Bool, _ reader: NodeReader
    ) {
        let assets = AssetBinding(reader: reader, definition: definition)
        if let asset = defaults[key: "asset"], !mentionsMatrix(asset) || hasMatrix {
            let scope = definition.scope(ofJob: "defaults", combination: combination, index: 1)
            let node = Substitution(scope: scope, reader: reader).apply(to: withPlaceholders(asset))
            if let (spec, _) = assets.asset(node),
                case .job(let needed, _, let output) = spec.source
            {
                _ = definition.hasJob(needed, reader: reader)
                if let output, !definition.bases.contains(where: { has(output.value, $0.node) }) {
                    reader.sink.error(
                        .undefinedName, "unknown output `\(output.value)`: no job defines it",
                        at: output.range)
                }
            }
        }
        if let written = defaults[key: "composition"], !mentionsMatrix(written) || hasMatrix {
            let scope = definition.scope(ofJob: "defaults", combination: combination, index: 1)
            let node = Substitution(scope: scope, reader: reader).apply(to: written)
            for id in assets.composition(node)?.readJobs ?? [] {
                _ = definition.hasJob(id, reader: reader)
            }
        }
    }

    /// Returns an incomplete asset with a placeholder for the key that each job adds: `pattern` of a test signal,
    /// `frame_rate` of an image sequence, `duration` of an image, `job` of a job's output, or `paths` of several files.
    private func withPlaceholders(_ asset: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = asset.content, let first = entries.first else { return asset }
        func with(_ key: String, _ value: String?, isList: Bool = false, _ type: MappingType) -> YAMLNode? {
            guard let value, entries.allSatisfy({ $0.key != key && type.has($0.key) }) else { return nil }
            let text = YAMLNode(.scalar(value, .plain), at: first.keyRange)
            let node = isList ? YAMLNode(.sequence([text]), at: first.keyRange) : text
            return YAMLNode(
                .mapping([YAMLNode.Entry(key: key, keyRange: first.keyRange, value: node)] + entries),
                at: asset.range)
        }
        return with("pattern", TestPattern.sources.first?.name, Language.pattern)
            ?? with("frame_rate", "25", Language.imagesAsset) ?? with("duration", "1s", Language.imageAsset)
            ?? with("job", definition.bases.first?.id.value, Language.jobAsset)
            ?? (entries.contains { $0.key == "except" }
                ? with("paths", "*", isList: true, Language.pathsAsset) : nil) ?? asset
    }

    private func has(_ output: String, _ job: YAMLNode) -> Bool {
        guard case .mapping(let outputs)? = job[key: "outputs"]?.content else { return false }
        return outputs.contains { $0.key == output }
    }

    private static let singleValueRules: Set<Rule> = [
        .invalidValue, .invalidName, .wrongType, .undefinedName, .unknownCodec, .unknownEncoder,
        .notSupported,
    ]
    private static let listRules: Set<Rule> = [
        .missingKey, .conflictingKeys, .unknownKey, .codecSetting, .encoderOption, .filterChain,
        .encoderMissing,
        .settingsCycle, .invalidRange,
    ]

    private func mentionsMatrix(_ node: YAMLNode) -> Bool {
        switch node.content {
        case .mapping(let entries): entries.contains { mentionsMatrix($0.value) }
        case .sequence(let items): items.contains(where: mentionsMatrix)
        default: node.text?.contains("${matrix.") == true
        }
    }

    /// Returns the locations of lists, which jobs replace as a whole, and of their keys.
    private static func lists(in node: YAMLNode) -> [SourceRange] {
        guard case .mapping(let entries) = node.content else { return [] }
        return entries.flatMap { entry in
            if case .sequence = entry.value.content { return [entry.keyRange, entry.value.range] }
            return lists(in: entry.value)
        }
    }
}
