internal import Diagnostics
internal import LibAV
internal import YAMLDocument

/// Merging of the settings that `use` names into an `encode` mapping, whose own keys override them.
struct SettingsResolver {
    let reader: NodeReader
    let definition: BatchDefinition
    let scope: Scope

    /// Maximum number of settings that one `encode` uses, directly or through others.
    static let maxUses = 32

    /// Returns the complete mapping of an `encode`, which is a name, or a mapping with or without `use`.
    /// Settings may use other settings. Returns nil after an error is reported.
    func resolve(_ node: YAMLNode, as type: MappingType) -> YAMLNode? {
        var current = node
        if let text = node.text, !node.isNull, !node.isDeferred {
            current = YAMLNode(
                .mapping([YAMLNode.Entry(key: "use", keyRange: node.range, value: node)]), at: node.range)
            guard Identifier.isValid(text) else {
                reader.sink.error(
                    .invalidName,
                    "`\(text)` is not a valid name of settings; expected a name, or the settings themselves",
                    at: node.range)
                return nil
            }
        }
        var trail: [Located<String>] = []
        while let use = current[key: "use"] {
            guard let name = reader.text(use, "`use`") else { return nil }
            if trail.contains(where: { $0.value == name.value }) {
                reader.sink.error(
                    .settingsCycle,
                    "circular use of settings: \((trail.map(\.value) + [name.value]).joined(separator: " → "))",
                    at: name.range,
                    notes: trail.map {
                        Diagnostic.Note("`\($0.value)` is used here", at: $0.range.with(context: nil))
                    })
                return nil
            }
            guard trail.count < Self.maxUses else {
                reader.sink.error(
                    .yamlLimit, "`use` is nested more than \(Self.maxUses) levels deep",
                    at: name.range)
                return nil
            }
            trail.append(name)
            guard let found = definition.settings[name.value] else {
                reader.sink.error(
                    .undefinedName, "unknown settings `\(name.value)`", at: name.range,
                    help: Self.codecHelp(name.value) ?? Suggestion.help(
                        for: name.value, among: definition.settings.keys.sorted())
                        ?? (definition.settings.isEmpty
                            ? "the file defines no `settings`"
                            : "expected one of \(definition.listedSettings)")
                )
                return nil
            }
            guard case .mapping = found.value.content else {
                reader.sink.error(
                    .wrongType, "the settings `\(name.value)` must be a mapping, not \(found.value.kind)",
                    at: found.value.range)
                return nil
            }
            guard definition.settingsBudget.spend(Int(found.value.size)) else {
                reader.sink.error(
                    .fanOut,
                    "settings of more than \(ExpansionLimits.freeSettings) values are used too often; at most \(ExpansionLimits.surplusSettings) further values are allowed in total",
                    at: name.range)
                return nil
            }
            let under = Substitution(scope: scope, reader: reader).apply(to: found.value).addingStep(
                through: .settings, "the settings `\(name.value)` are used here",
                at: name.range.with(context: nil))
            current = NodeMerge.merge(Self.without("use", current), over: under, as: type)
        }
        return current
    }

    private static func without(_ key: String, _ node: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = node.content else { return node }
        return YAMLNode(.mapping(entries.filter { $0.key != key }), at: node.range)
    }

    /// Returns help if a codec's name is used as the name of settings.
    private static func codecHelp(_ name: String) -> String? {
        if name == "copy" { return ForeignWords.copy }
        let isCodec =
            CodecCatalog.codec(name, of: .video) != nil || CodecCatalog.codec(name, of: .audio) != nil
        return isCodec
            ? "a single word is the name of `settings`; write a codec as `{ codec: \(name) }`" : nil
    }
}
