internal import Diagnostics
internal import Media
internal import YAMLDocument

/// Decoder of ranges of a source's time line, with the validation that requires no media.
struct RangeDecoder {
    let reader: NodeReader

    /// Decodes one range or a list of ranges.
    func ranges(_ node: YAMLNode) -> [RangeSpec] {
        guard case .sequence(let items) = node.content else { return range(node).map { [$0] } ?? [] }
        if items.isEmpty {
            reader.sink.error(.missingKey, "the list of ranges is empty", at: node.range)
        }
        if items.count > Language.maxRanges {
            reader.sink.error(
                .yamlLimit, "the list has more than \(Language.maxRanges) ranges", at: node.range)
            return []
        }
        return items.compactMap { range($0) }
    }

    /// Returns the range; nil after an error is reported.
    func range(_ node: YAMLNode) -> RangeSpec? {
        guard let fields = reader.fields(node, as: Language.range) else { return nil }
        let spec = RangeSpec(
            start: reader.value("start", of: fields),
            end: reader.value("end", of: fields),
            duration: reader.value("duration", of: fields), range: node.range)
        // Only absolute times can be compared without the source.
        var from = MediaTime.zero
        if let start = spec.start {
            guard case .absolute(let time) = start.value else { return spec }
            from = time
        }
        if let end = spec.end, case .absolute(let time) = end.value, time <= from {
            reader.sink.error(
                .invalidRange, "the range is empty: it ends at \(time) s and begins at \(from) s",
                at: end.range)
        }
        if let duration = spec.duration, case .absolute(let time) = duration.value, time <= .zero {
            reader.sink.error(.invalidRange, "the range is empty: its duration is 0", at: duration.range)
        }
        return spec
    }
}
