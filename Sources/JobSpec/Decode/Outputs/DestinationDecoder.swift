internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of destinations, and of the containers that their extensions determine.
struct DestinationDecoder {
    let reader: NodeReader
    /// Whether the job's source is a pattern whose matches are not known yet.
    let isTemplate: Bool

    /// Decodes the destination of a package, which may end with `/`.
    func folder(_ node: YAMLNode) -> DestinationSpec? {
        guard var spec = spec(node, isFolder: true) else { return nil }
        while spec.path.value.count > 1, spec.path.value.utf8.last == 0x2f { spec.path.value.removeLast() }
        return spec
    }

    /// Decodes the destination of a file.
    func file(_ node: YAMLNode) -> DestinationSpec? { spec(node, isFolder: false) }

    private func spec(_ node: YAMLNode, isFolder: Bool) -> DestinationSpec? {
        if node.text != nil {
            guard let path = path(node, isFolder: isFolder) else { return nil }
            return DestinationSpec(
                path: path, ifExists: .fail, makesDirectories: true, isTemplate: node.isDeferred)
        }
        guard let fields = reader.fields(node, as: Language.destination) else { return nil }
        let ifExists = reader.choiceOrDefault("if_exists", of: fields, as: IfExists.self)
        let makes = reader.valueOrDefault("make_directories", of: fields, as: Bool.self)
        guard let path = fields["path"].flatMap({ path($0.value, isFolder: isFolder) }) else {
            return nil
        }
        return DestinationSpec(
            path: path, ifExists: ifExists,
            makesDirectories: makes,
            isTemplate: fields.value("path")?.isDeferred == true)
    }

    private func path(_ node: YAMLNode, isFolder: Bool) -> Located<String>? {
        // A partial path is sufficient while a pattern's matches are unknown.
        if node.isDeferred, isTemplate, let text = node.text { return Located(text, at: node.range) }
        guard let path = reader.text(node, "a destination") else { return nil }
        if reader.hasTypographicQuotes(node, path: path) { return nil }
        let slashes = isFolder ? path.value.utf8.reversed().prefix { $0 == 0x2f }.count : 0
        let name = Self.lastPart(of: String(path.value.dropLast(slashes)))
        let thing = isFolder ? "folder" : "file"
        let problem: String? =
            if path.value.utf8.count > Language.maxPath {
                "the destination has \(path.value.utf8.count) bytes; at most \(Language.maxPath) are allowed"
            } else if path.value.isEmpty {
                "the destination is empty; it must name a \(thing)"
            } else if name.isEmpty, isFolder {
                "the destination is the root folder; it must name a folder"
            } else if name.isEmpty {
                "the destination ends with `/`; it must name a file"
            } else if name == "." || name == ".." {
                isFolder
                    ? "the destination `\(name)` is an existing folder; it must name one of its own"
                    : "the destination is a folder; it must name a file"
            } else if name.utf8.count > 255 {
                "the \(thing) name has \(name.utf8.count) bytes; at most 255 are allowed"
            } else {
                nil
            }
        guard let problem else { return path }
        reader.sink.error(
            .invalidValue, problem, at: path.range,
            help: name.isEmpty && !path.value.isEmpty && !isFolder
                ? "use `\(path.value)${asset.stem}.mp4` to name the file after the source" : nil)
        return nil
    }

    /// Returns the part after the last `/`.
    static func lastPart(of path: String) -> Substring {
        guard let slash = path.utf8.lastIndex(of: 0x2f) else { return path[...] }
        return path[path.utf8.index(after: slash)...]
    }

    /// Warns if the destination's extension is that of another container than `container`. Unknown extensions are
    /// accepted.
    private func checkExtension(of destination: DestinationSpec, against named: Located<String>) {
        guard !destination.isTemplate, let type = ContainerType.named(named.value),
            let ending = Self.lastPart(of: destination.path.value).nameParts.ending,
            let other = ContainerType.forExtension(ending), other != type,
            !type.model.commonExtensions.contains(ending.lowercased())
        else { return }
        reader.sink.warning(
            .unknownContainer,
            "the extension `.\(ending)` doesn't match the container \(type.name); players may reject the file",
            at: destination.path.range,
            notes: [Diagnostic.Note("the container is determined here", at: named.range)],
            help: "use the extension `.\(type.extensions[0])`, or remove `container` to write \(other.name)")
    }

    /// Returns the container that `container` names, or the destination's extension; nil after an error is reported, or if it
    /// isn't known yet. `hasKey` is whether `container` is set, even if its value is invalid.
    func container(
        _ named: Located<String>?, hasKey: Bool, destination: DestinationSpec
    ) -> Located<ContainerType>? {
        let path = destination.path.value
        let name = Self.lastPart(of: path)
        if let named {
            // Some extensions, such as those of image formats, are misleading for a media file.
            if let ending = name.nameParts.ending, !destination.isTemplate,
                let other = ForeignWords.help(extension: ending)
            {
                reader.sink.error(
                    .unknownContainer,
                    "the extension `.\(ending)` doesn't match the container \(named.value)",
                    at: destination.path.range, help: other)
            } else {
                checkExtension(of: destination, against: named)
            }
            return ContainerType.named(named.value).map { Located($0, at: named.range) }
        }
        if hasKey { return nil }
        let all = ContainerType.all
        guard let fileExtension = name.nameParts.ending else {
            if destination.isTemplate { return nil }
            reader.sink.error(
                .unknownContainer, "the destination has no extension, which determines the container",
                at: destination.path.range,
                help: "set `container` to one of \(all.map(\.name).joined(separator: ", "))")
            return nil
        }
        if destination.isTemplate, GlobPattern.isPattern(fileExtension) { return nil }
        guard let type = ContainerType.forExtension(fileExtension) else {
            reader.sink.error(
                .unknownContainer, "unknown extension `.\(fileExtension)`", at: destination.path.range,
                help: ForeignWords.help(extension: fileExtension) ?? Suggestion.help(
                    for: fileExtension.lowercased(), among: all.flatMap(\.extensions))
                    ?? "set `container` to one of \(all.map(\.name).joined(separator: ", "))")
            return nil
        }
        return Located(type, at: destination.path.range)
    }
}
