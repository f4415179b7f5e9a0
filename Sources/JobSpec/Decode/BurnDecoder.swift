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
        let selections = SelectionDecoder(reader: reader)
        func spec(_ selection: TrackSelection?) -> BurnSpec? {
            selection.map { BurnSpec(selection: $0, range: node.range) }
        }
        if case .sequence = node.content {
            return spec(selections.selection(node, of: .subtitle, allowsAll: false))
        }
        let whole = NodeMerge.expanded(node, as: Language.burn)
        guard let fields = reader.fields(whole, as: Language.burn) else { return nil }
        let asset = fields["asset"]
        let file = asset.flatMap {
            SubtitleFileDecoder(reader: reader, definition: definition).file($0.value)
        }
        let written = fields["subtitle"]
        var burn = spec(
            written == nil
                ? TrackSelection(.first, at: node.range)
                : written.flatMap { selections.selection($0.value, of: .subtitle, allowsAll: false) })
        burn?.file = file
        burn?.isOptional = reader.boolean("optional", of: fields)?.value ?? false
        burn?.style = style(of: fields)
        return asset == nil || file != nil ? burn : nil
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
