internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

extension OutputDecoder {
    /// Decodes `check` as an output without tracks and destination; nil after an error is reported.
    func check(_ entry: YAMLNode.Entry, _ fields: Fields) -> OutputSpec? {
        refuse(
            Self.mediaKeys.filter { $0 != "expect" } + ["destination", "leftover", "cut"], fields, entry,
            because: ", which writes no output", help: { "remove `\($0)`" })
        refuseComposition(entry)
        guard let spec = checkSpec(entry, fields) else { return nil }
        let written = fields["expect"].map { ExpectDecoder(reader: reader).expectations($0.value) } ?? []
        return OutputSpec(
            id: id, tracks: [], kind: .check(spec), expectations: applicable(written, to: spec, fields))
    }

    /// Reports a composition, whose filled gaps would hide data that is missing in its clips.
    private func refuseComposition(_ entry: YAMLNode.Entry) {
        switch asset.source {
        case .composition, .composed:
            reader.sink.error(
                .conflictingKeys, "`check` can't be combined with a composition", at: asset.range,
                notes: [Diagnostic.Note("`check` is here", at: entry.keyRange)],
                help: "check each file of the composition in a job of its own")
        case .pattern, .images, .image, .file, .url, .glob, .playlist, .job: break
        }
    }

    private func checkSpec(_ entry: YAMLNode.Entry, _ fields: Fields) -> CheckSpec? {
        let node = entry.value
        if node.text != nil {
            guard let value = reader.boolean(node, "`check`") else { return nil }
            if !value.value {
                reader.sink.error(
                    .invalidValue, "`check: false` is not supported; expected `true` or a mapping",
                    at: node.range,
                    help: "remove `check`, or use `check: { decode: false }` to read packets without decoding"
                )
                return nil
            }
            return CheckSpec(decodes: true, range: node.range)
        }
        guard let keys = reader.fields(node, as: Language.check) else { return nil }
        guard let decode = reader.boolean("decode", of: keys) else {
            return keys.has("decode") ? nil : CheckSpec(decodes: true, range: node.range)
        }
        if !decode.value { checkPackets(fields, decode.range) }
        return CheckSpec(decodes: decode.value, range: node.range)
    }

    /// Reports settings that conflict with `decode: false`: `range`, and a generated source, which has no packets.
    private func checkPackets(_ fields: Fields, _ location: SourceRange) {
        if let generated = asset.generatedNoun {
            reader.sink.error(
                .conflictingKeys,
                "`decode: false` requires a media file; the source is \(generated), which has no packets",
                at: location,
                notes: [Diagnostic.Note("the source is here", at: asset.range)],
                help: "use `check: true`")
        }
        if let range = fields["range"] {
            reader.sink.error(
                .conflictingKeys,
                "`range` can't be combined with `decode: false`, which reads all packets of the source",
                at: range.keyRange, notes: [Diagnostic.Note("`decode` is here", at: location)],
                help: "use `check: true` to decode the range")
        }
    }

    /// Returns the expectations that can be evaluated on the source, and reports the others. `similarity` from
    /// `defaults` is dropped without a message, because no check supports it.
    private func applicable(_ expectations: [Expectation], to spec: CheckSpec, _ fields: Fields)
        -> [Expectation]
    {
        expectations.filter { expectation in
            guard let (message, help) = reasonNotApplicable(of: expectation.check, spec, fields) else {
                return true
            }
            if case .similarity = expectation.check, expectation.location.isDefault { return false }
            reader.sink.error(.conflictingKeys, message, at: expectation.location, help: help)
            return false
        }
    }

    /// Returns the reason why an expectation can't be evaluated on the source, with help; nil if it can be.
    private func reasonNotApplicable(
        of check: Expectation.Check, _ spec: CheckSpec, _ fields: Fields
    ) -> (message: String, help: String)? {
        switch check {
        case .similarity:
            return (
                "`similarity` is not supported by `check`, which has no output to compare with the source",
                "use `similarity` in a job with an output"
            )
        case .size where asset.generatedNoun != nil:
            return (
                "`size` requires a media file; the source is \(asset.generatedNoun ?? "none")",
                "remove `size`"
            )
        case .frames, .loudness, .truePeak, .silence, .black, .decodes:
            guard spec.decodes else {
                return (
                    "`\(check.key)` requires decoding, which `check: { decode: false }` disables",
                    "use `check: true`"
                )
            }
        case .duration, .property, .size: break
        }
        switch check {
        case .duration where fields.has("range"), .frames where fields.has("range"):
            return (
                "`\(check.key)` can't be combined with `range`: it applies to the whole source",
                "remove `range`, or check the whole source in another job"
            )
        default: return nil
        }
    }
}

extension Expectation.Check {
    /// Key in `expect`.
    fileprivate var key: String {
        switch self {
        case .duration: "duration"
        case .frames: "frames"
        case .size: "size"
        case .property(let type, _, _): type.rawValue
        case .loudness, .truePeak: "loudness"
        case .silence: "silence"
        case .black: "black"
        case .similarity: "similarity"
        case .decodes: "decodes"
        }
    }
}
