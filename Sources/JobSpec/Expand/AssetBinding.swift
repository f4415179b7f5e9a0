internal import Diagnostics
internal import Media
internal import YAMLDocument

/// The resolution of the asset of a job: the id of an asset of the job file, a path, an inline asset, or a
/// composition.
struct AssetBinding {
    let reader: NodeReader
    let definition: BatchDefinition

    /// Returns the asset, with its id if it is one of the job file's; nil after an error is reported, or if a value is not known
    /// yet.
    func asset(_ node: YAMLNode) -> (AssetSpec, Located<String>?)? {
        let decoder = AssetDecoder(reader: reader)
        guard node.text != nil else { return decoder.asset(node).map { ($0, nil) } }
        guard let text = reader.text(node, "`asset`") else { return nil }
        if Identifier.isValid(text.value) {
            guard let entry = definition.assets[text.value] else {
                let ids = definition.listedAssets
                reader.sink.error(
                    .undefinedName, "unknown asset `\(text.value)`", at: text.range,
                    help: Suggestion.help(for: text.value, among: definition.assets.keys.sorted())
                        ?? (ids.isEmpty
                            ? "the file defines no assets; a path must contain a `/` or a `.`"
                            : "expected one of \(ids)"))
                return nil
            }
            let inner = Substitution(scope: definition.scope, reader: reader).apply(to: entry.value)
            return decoder.asset(inner).map { ($0, Located(entry.key, at: text.range)) }
        }
        return isPath(text) ? decoder.asset(node).map { ($0, nil) } : nil
    }

    /// Returns the asset of a composition; nil after an error is reported, or if a value is not known yet.
    func composition(_ node: YAMLNode) -> AssetSpec? {
        CompositionDecoder(reader: reader) { asset($0)?.0 }.composition(node).map {
            AssetSpec(source: .composition($0), timing: .fast, range: node.range)
        }
    }

    /// Returns whether a text that isn't an id has the form of a path, and reports one that hasn't.
    func isPath(_ text: Located<String>) -> Bool {
        if text.value.contains("/") || text.value.contains(".") { return true }
        reader.sink.error(
            .invalidName,
            "`\(text.value)` is neither an asset's id nor a path, which must contain a `/` or a `.`",
            at: text.range)
        return false
    }
}
