internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import Streaming
internal import YAMLDocument

/// Decoder of one output of a job, after substitution.
struct OutputDecoder {
    let reader: NodeReader
    let settings: SettingsResolver
    /// The output's id; nil for the only output of a job without `outputs`.
    let id: Located<String>?
    /// Whether the job's source is a pattern whose matches are not known yet.
    let isTemplate: Bool
    /// The job's source.
    let asset: AssetSpec
    /// The output's location under `outputs`; nil for the only output of a job without `outputs`.
    var ownRange: SourceRange?

    /// A decoded output, without the parts that are invalid.
    struct Result {
        let spec: OutputSpec
        /// Whether the whole output is valid. Otherwise the spec is used only for further checks.
        let isComplete: Bool

        init(spec: OutputSpec, isComplete: Bool) { (self.spec, self.isComplete) = (spec, isComplete) }
        init(complete spec: OutputSpec) { self.init(spec: spec, isComplete: true) }
    }

    /// Decodes an output; nil if no spec can be created even for further checks. Errors are added to the reader's sink;
    /// values that aren't known yet are not errors.
    func output(_ fields: Fields) -> Result? {
        let kind = OutputKindKey.first(of: fields) { !$0.isMedia } ?? OutputKindKey.first(of: fields)
        switch kind?.key {
        case .images: return kind.flatMap { images($0.entry, fields) }.map(Result.init(complete:))
        case .waveform: return kind.flatMap { waveform($0.entry, fields) }.map(Result.init(complete:))
        case .check: return kind.flatMap { check($0.entry, fields) }.map(Result.init(complete:))
        case .tracks, .export, nil: return media(fields)
        }
    }

    private func media(_ fields: Fields) -> Result? {
        let tracks = fields["tracks"].map { rules($0) } ?? fields["export"].map { exported($0) }
        let named = reader.word("container", of: fields)
        let optimize = reader.boolean("optimize_for_network", of: fields)
        let fragment = reader.length("fragment", of: fields)
        let metadata = fields["metadata"].map { tags($0.value) } ?? MetadataSpec()
        let chapters = fields["chapters"].flatMap { chapterList($0.value) }
        let limit = fields["limit"].map { limits($0.value) }
        let leftover = reader.choice("leftover", of: fields, as: Leftover.self)
        let expectations = fields["expect"].map { ExpectDecoder(reader: reader).expectations($0.value) } ?? []
        let entry = fields["destination"]
        let target = entry.flatMap { self.destinationSpec($0.value) }
        var container: Located<ContainerType>?
        if let target {
            container = containerType(named, hasKey: fields["container"] != nil, destination: target)
        } else if let named {
            container = ContainerType.named(named.value).map { Located($0, at: named.range) }
        }
        let isComplete =
            target != nil && tracks?.isComplete == true && (container != nil || target?.isTemplate == true)
        guard let location = entry?.value.range ?? ownRange ?? fields["tracks"]?.keyRange else { return nil }
        let destination =
            target
            ?? DestinationSpec(path: Located("", at: location), ifExists: .fail, makesDirectories: true)
        let media = MediaSpec(
            optimizeForNetwork: optimize, fragmentInterval: fragment, metadata: metadata,
            chapters: chapters, durationLimit: limit?.duration, sizeLimit: limit?.size)
        let spec = OutputSpec(
            id: id, tracks: tracks?.rules ?? [], kind: .media(media), container: container,
            expectations: expectations, leftover: leftover, destination: destination)
        return Result(spec: spec, isComplete: isComplete)
    }

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
            return ContainerType.named("webvtt").map { Located($0, at: package.keyRange) }
        }
        let written = package.value[key: PackageDecoder.container]
        let container = written?.text.flatMap { SegmentContainer(rawValue: $0) } ?? .mp4
        return ContainerType.named(container.rawValue).map {
            Located($0, at: written?.range ?? package.keyRange)
        }
    }

    /// Keys of media outputs, which most other kinds don't support.
    static let mediaKeys = [
        "container", "optimize_for_network", "fragment", "metadata", "chapters", "limit", "expect",
    ]

    func refuseMediaKeys(_ fields: Fields, _ kind: YAMLNode.Entry) {
        refuse(Self.mediaKeys, fields, kind)
    }

    /// Reports keys that can't be combined with the kind of the output, such as `images`. `reason` is appended to the
    /// message. Keys from `defaults`, and keys that the job sets for all its outputs, are ignored.
    func refuse(
        _ keys: [String], _ fields: Fields, _ kind: YAMLNode.Entry, because reason: String = "",
        help: (String) -> String? = { _ in nil }
    ) {
        for key in keys {
            guard let other = fields[key], ownRange?.contains(other.keyRange) != false,
                !other.keyRange.isDefault, !other.value.range.isDefault
            else { continue }
            reader.sink.error(
                .conflictingKeys, "`\(key)` can't be combined with `\(kind.key)`\(reason)",
                at: other.keyRange,
                notes: [Diagnostic.Note("`\(kind.key)` is here", at: kind.keyRange)], help: help(key))
        }
    }

    /// The valid rules, and whether all rules are valid.
    private typealias Rules = (rules: [TrackRule], isComplete: Bool)

    private func rules(_ list: YAMLNode.Entry) -> Rules {
        guard case .sequence(let items) = list.value.content else {
            reader.sink.error(
                .wrongType, "`tracks` must be a list of rules, not \(list.value.kind)", at: list.value.range,
                help: "write it as `tracks: [ { video: first, copy: true } ]`")
            return ([], false)
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "`tracks` is empty; expected at least one rule", at: list.keyRange)
        }
        let decoder = TrackRuleDecoder(reader: reader, settings: settings)
        let rules = items.map { decoder.rules($0) }
        return (rules.flatMap { $0 ?? [] }, !rules.isEmpty && rules.allSatisfy { $0 != nil })
    }

    /// Returns the rules of a preset, located at the preset's name.
    private func exported(_ entry: YAMLNode.Entry) -> Rules {
        guard let word = reader.word(entry.value, as: "export", of: Language.job),
            let preset = ExportPreset.named(word.value)
        else { return ([], false) }
        return rules(
            YAMLNode.Entry(key: "tracks", keyRange: entry.keyRange, value: preset.tracks(at: word.range)))
    }

    private func limits(_ node: YAMLNode) -> (duration: Located<TimeExpression>?, size: Located<Int64>?) {
        guard let fields = reader.fields(node, as: Language.limit) else { return (nil, nil) }
        let time = reader.value("duration", of: fields, as: TimeExpression.self)
        if let time, case .absolute(let length) = time.value, length <= .zero {
            reader.sink.error(.invalidRange, "`duration` must be greater than 0", at: time.range)
        }
        return (time, reader.value("size", of: fields))
    }

    private func tags(_ node: YAMLNode) -> MetadataSpec {
        var spec = MetadataSpec()
        guard let fields = reader.fields(node, as: Language.metadata) else { return spec }
        if let keep = fields["keep"] {
            if case .sequence(let items) = keep.value.content {
                spec.keep = .keys(items.compactMap { reader.text($0, "a tag")?.value })
            } else if let word = reader.word("keep", of: fields) {
                spec.keep = word.value == "all" ? .all : .none
            }
        }
        spec.set = reader.tags(fields["set"])
        spec.cover = fields["cover"].flatMap { coverPath($0.value) }
        checkDates(spec.set)
        if let word = reader.word("file_times", of: fields), word.value == "keep" {
            spec.fileTimes = word.range
        }
        return spec
    }

    private func coverPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.path(node, "`cover`"), reader.isLocal(path, "`cover`") else { return nil }
        return path
    }

    /// Reports numeric dates that don't exist; other texts are not checked.
    private func checkDates(_ tags: [(key: Located<String>, value: String)]) {
        for (key, value) in tags where ["date", "creation_time", "year"].contains(key.value.lowercased()) {
            guard let problem = DateTag.problem(value) else { continue }
            reader.sink.error(
                .invalidValue, "`\(key.value)` can't be `\(value)`: \(problem)", at: key.range,
                help: "expected a date such as 2024, 2024-05 or 2024-05-17")
        }
    }

    private func chapterList(_ node: YAMLNode) -> Located<ChapterSpec>? {
        guard case .sequence(let items) = node.content else {
            return reader.word(node, as: "chapters", of: Language.job).map {
                Located($0.value == "keep" ? .keep : $0.value == "clips" ? .clips : .drop, at: $0.range)
            }
        }
        var list: [(start: Located<TimeExpression>, title: String)] = []
        for item in items {
            guard let fields = reader.fields(item, as: Language.chapter) else { continue }
            let start = reader.value("start", of: fields, as: TimeExpression.self)
            let title = fields["title"].flatMap { reader.text($0.value, "`title`") }
            guard let start, let title else { continue }
            if case .absolute(let time) = start.value, case .absolute(let before)? = list.last?.start.value,
                time <= before, let last = list.last
            {
                reader.sink.error(
                    .invalidValue,
                    "chapters must be in ascending order; this one doesn't start after the previous one",
                    at: start.range,
                    notes: [Diagnostic.Note("the previous one is here", at: last.start.range)])
            }
            if case .chapter = start.value {
                reader.sink.error(
                    .invalidValue, "the start of a chapter must be a time of the output, not another chapter",
                    at: start.range)
            }
            list.append((start, title.value))
        }
        return Located(.list(list), at: node.range)
    }

    // MARK: Destination

    /// Decodes the destination of a package, which may end with `/`.
    func folderSpec(_ node: YAMLNode) -> DestinationSpec? {
        guard var spec = destinationSpec(node, isFolder: true) else { return nil }
        while spec.path.value.count > 1, spec.path.value.utf8.last == 0x2f { spec.path.value.removeLast() }
        return spec
    }

    func destinationSpec(_ node: YAMLNode, isFolder: Bool = false) -> DestinationSpec? {
        if node.text != nil {
            guard let path = destinationPath(node, isFolder: isFolder) else { return nil }
            return DestinationSpec(
                path: path, ifExists: .fail, makesDirectories: true, isTemplate: node.isDeferred)
        }
        guard let fields = reader.fields(node, as: Language.destination) else { return nil }
        let ifExists = reader.choiceOrDefault("if_exists", of: fields, as: IfExists.self)
        let makes = reader.valueOrDefault("make_directories", of: fields, as: Bool.self)
        guard let path = fields["path"].flatMap({ destinationPath($0.value, isFolder: isFolder) }) else {
            return nil
        }
        return DestinationSpec(
            path: path, ifExists: ifExists,
            makesDirectories: makes,
            isTemplate: fields.value("path")?.isDeferred == true)
    }

    private func destinationPath(_ node: YAMLNode, isFolder: Bool) -> Located<String>? {
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

    private func containerType(
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
