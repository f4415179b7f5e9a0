internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of `burn`, and of the style of subtitles.
struct BurnDecoder {
    let reader: NodeReader

    /// Returns the subtitles; nil for none, after an error is reported, and if a value is not known yet. `definition`: the
    /// assets to which `asset` refers.
    func burn(_ node: YAMLNode, _ definition: BatchDefinition) -> BurnSpec? {
        if let text = node.text, !node.isNull {
            if SelectionWord(rawValue: text) == SelectionWord.none { return nil }
            if SelectionWord(rawValue: text) == nil, definition.assets[text] != nil {
                reader.sink.error(
                    .invalidValue, "`burn` can't be the id of an asset", at: node.range,
                    help: "write it as `burn: { asset: \(text) }`")
                return nil
            }
        }
        if case .sequence = node.content {
            return SelectionDecoder(reader: reader).selection(node, of: .subtitle, allowsAll: false).map {
                BurnSpec(
                    selection: $0, file: nil, isOptional: false, style: SubtitleStyleSpec(),
                    range: node.range)
            }
        }
        let whole = NodeMerge.expanded(node, as: Language.burn)
        guard let fields = reader.fields(whole, as: Language.burn) else { return nil }
        let isOptional = reader.boolean("optional", of: fields)?.value ?? false
        let style = style(of: fields)
        var selection: TrackSelection? = TrackSelection(.first, at: node.range)
        if let entry = fields["subtitle"] {
            selection = SelectionDecoder(reader: reader).selection(
                entry.value, of: .subtitle, allowsAll: false)
        }
        guard let entry = fields["asset"] else {
            return selection.map {
                BurnSpec(selection: $0, file: nil, isOptional: isOptional, style: style, range: node.range)
            }
        }
        let file = SubtitleFileDecoder(reader: reader, definition: definition).file(entry.value)
        guard let selection, let file else { return nil }
        return BurnSpec(
            selection: selection, file: file, isOptional: isOptional, style: style, range: node.range)
    }

    /// Decodes the style of subtitles.
    func style(of fields: Fields) -> SubtitleStyleSpec {
        SubtitleStyleSpec(
            font: fields.value("font").flatMap { reader.text($0, "`font`") },
            size: reader.integer("size", of: fields),
            color: reader.value("color", of: fields, as: Language.NamedColor.self).map {
                Located($0.value.digits, at: $0.range)
            })
    }
}
