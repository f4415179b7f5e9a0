internal import Diagnostics
internal import YAMLDocument

struct MixDecoder {
    let reader: NodeReader
    /// Function that decodes a selection of tracks.
    let selection: (YAMLNode) -> TrackSelection?

    /// Returns the mix; nil for `mix: false`, or after an error is reported.
    func mix(_ entry: YAMLNode.Entry) -> MixSpec? {
        guard case .sequence(let items) = entry.value.content else {
            guard reader.boolean(entry.value, "`mix`")?.value == true else { return nil }
            return MixSpec(inputs: [], range: entry.value.range)
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "the list is empty; `mix: true` mixes the tracks at their original levels",
                at: entry.value.range)
        }
        let inputs = items.compactMap { input($0) }
        return inputs.count == items.count && !inputs.isEmpty
            ? MixSpec(inputs: inputs, range: entry.value.range) : nil
    }

    private func input(_ node: YAMLNode) -> MixSpec.Input? {
        guard let fields = reader.fields(node, as: Language.mixInput),
            let tracks = fields["audio"].flatMap({ selection($0.value) }), let volume = fields["volume"]
        else { return nil }
        guard case .sequence(let items) = volume.value.content else {
            guard let value = reader.thousandths("volume", of: fields)?.value else {
                return nil
            }
            return MixSpec.Input(selection: tracks, points: [(nil, value)])
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "`volume` has no points; expected at least one", at: volume.value.range)
        }
        let points = items.compactMap { item -> (at: Located<TimeExpression>?, thousandths: Int)? in
            guard let fields = reader.fields(item, as: Language.volumePoint),
                let time = reader.value("at", of: fields, as: TimeExpression.self),
                let value = reader.thousandths("value", of: fields)?.value
            else { return nil }
            return (time, value)
        }
        return points.count == items.count && !points.isEmpty
            ? MixSpec.Input(selection: tracks, points: points) : nil
    }
}
