internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Decoder of the subtitle file of a track rule: a path, the id of an asset, or a mapping.
struct SubtitleFileDecoder {
    let reader: NodeReader
    let definition: BatchDefinition
    private var binding: AssetBinding { AssetBinding(reader: reader, definition: definition) }

    /// Returns the file; nil after an error is reported, or if a value is not known yet.
    func file(_ node: YAMLNode) -> SubtitleFileSpec? {
        guard !node.isNull, let text = node.text else { return mapping(node) }
        // While a pattern's matches are unknown, the path isn't used.
        if node.isDeferred { return SubtitleFileSpec(path: Located(text, at: node.range)) }
        guard Identifier.isValid(text) else { return path(node).map { SubtitleFileSpec(path: $0) } }
        guard let (asset, id) = binding.asset(node) else {
            return nil
        }
        guard case .file(let path) = asset.source else {
            reader.sink.error(
                .notSupported, "the asset `\(text)` isn't one file; subtitles can only be read from a file",
                at: node.range,
                notes: id == nil ? [] : [Diagnostic.Note("the asset is here", at: asset.range)])
            return nil
        }
        return SubtitleFileSpec(path: path, language: asset.language?.value)
    }

    private func mapping(_ node: YAMLNode) -> SubtitleFileSpec? {
        guard case .mapping = node.content else {
            reader.sink.error(
                .wrongType, "`asset` must be a path, the id of an asset or a mapping, not \(node.kind)",
                at: node.range)
            return nil
        }
        guard let fields = reader.fields(node, as: Language.subtitleFile) else { return nil }
        let language = reader.value("language", of: fields, as: String.self)
        if let written = fields.value("path"), written.isDeferred, let text = written.text {
            return SubtitleFileSpec(path: Located(text, at: written.range), language: language?.value)
        }
        guard let path = fields.value("path").flatMap({ path($0) }),
            !fields.has("language") || language != nil
        else { return nil }
        return SubtitleFileSpec(path: path, language: language?.value)
    }

    /// Reads a path, in which `*` and `?` are ordinary characters.
    private func path(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.path(node, "a path"), !reader.hasTypographicQuotes(node, path: path),
            reader.isLocal(path, "a subtitle file"), binding.isPath(path)
        else { return nil }
        return path
    }
}
