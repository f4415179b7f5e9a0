internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import Streaming
internal import YAMLDocument

/// Decoding of the outputs that belong to a package.
extension OutputDecoder {
    /// Decodes an output of a `package`, which has no destination; nil after an error is reported.
    func rendition(_ node: YAMLNode, of entry: YAMLNode.Entry) -> Result? {
        let package = entry.keyRange
        guard let fields = reader.fields(node, as: Language.output.partial()) else { return nil }
        if let images = fields["images"], let named = entry.value[key: PackageDecoder.thumbnails]?.text,
            named.exact == id?.value.exact
        {
            return thumbnails(images, fields, at: package).map(Result.init(complete:))
        }
        for key in OutputKindKey.names(where: { $0.isAllowedInOutputs && $0 != .tracks }) {
            guard let other = fields[key] else { continue }
            reader.sink.error(
                .conflictingKeys, "`\(key)` requires a `destination`; an output of a `package` has `tracks`",
                at: other.keyRange, notes: [Diagnostic.Note("`package` is here", at: package)],
                help: key == "images"
                    ? "`\(PackageDecoder.thumbnails): \(id?.value ?? "")` of the `package` makes a sheet part of it"
                    : nil)
            return nil
        }
        for key in Self.mediaKeys where key != "expect" {
            guard let other = fields[key] else { continue }
            reader.sink.error(
                .conflictingKeys, "`\(key)` can't be set for an output of a `package`", at: other.keyRange,
                notes: [Diagnostic.Note("`package` is here", at: package)])
        }
        guard fields.has("tracks") else {
            reader.sink.error(.missingKey, "the key `tracks` is missing", at: node.range)
            return nil
        }
        let tracks = fields["tracks"].map { rules($0) }
        let leftover = reader.choice("leftover", of: fields, as: Leftover.self)
        let expectations = fields["expect"].map { ExpectDecoder(reader: reader).expectations($0.value) } ?? []
        let spec = OutputSpec(
            id: id, tracks: tracks?.rules ?? [],
            kind: .media(
                MediaSpec(metadata: MetadataSpec(keep: .none), chapters: Located(.drop, at: package))),
            container: renditionContainer(of: tracks?.rules.first?.mediaType, entry),
            expectations: expectations, leftover: leftover)
        return Result(spec: spec, isComplete: tracks?.isComplete == true)
    }

    /// Returns the container of a rendition of a package. `PackageDecoder` reports an unknown name.
    private func renditionContainer(
        of type: MediaType?, _ package: YAMLNode.Entry
    ) -> Located<ContainerType>? {
        if type == .subtitle {
            return Located(.webvtt, at: package.keyRange)
        }
        let written = package.value[key: PackageDecoder.container]
        let container = written?.text.flatMap { SegmentContainer(rawValue: $0) } ?? .mp4
        return ContainerType.named(container.rawValue).map {
            Located($0, at: written?.range ?? package.keyRange)
        }
    }
}
