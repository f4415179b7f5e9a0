internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of an asset: a path, one or several files with settings, a URL, a test signal, images, a package, or the output of another job.
struct AssetDecoder {
    let reader: NodeReader

    /// Returns the asset; nil after an error is reported. For the output of a job, `instance` is the job's id
    /// until the instance is known.
    func asset(_ node: YAMLNode) -> AssetSpec? {
        if node.text != nil {
            guard let source = path(node) else { return nil }
            return AssetSpec(source: source, timing: .fast, range: node.range)
        }
        guard case .mapping(let entries) = node.content else {
            let isList = if case .sequence = node.content { true } else { false }
            reader.sink.error(
                .wrongType, "an asset must be a path or a mapping, not \(node.kind)", at: node.range,
                help: isList
                    ? "`{ paths: [a.mp4, b.mp4] }` runs the job once for each file; `composition: [a.mp4, b.mp4]` joins files"
                    : nil)
            return nil
        }
        if entries.contains(where: { $0.key == "pattern" }) { return pattern(node) }
        if entries.contains(where: { $0.key == "job" }) {
            guard let fields = reader.fields(node, as: Language.jobAsset), let job = fields["job"],
                let id = reader.text(job.value, "`job`")
            else { return nil }
            let output = fields["output"].flatMap { reader.text($0.value, "`output`") }
            if fields["output"] != nil, output == nil { return nil }
            if let output, !Identifier.isValid(output.value) {
                reader.sink.error(
                    .invalidName, "`\(output.value)` is not a valid output id", at: output.range,
                    help: "ids contain only letters, digits, `_` and `-`")
                return nil
            }
            return AssetSpec(
                source: .job(id, instance: id.value, output: output), timing: .fast, range: node.range)
        }
        if entries.contains(where: { $0.key == "url" }) { return remote(node) }
        if entries.contains(where: { $0.key == "paths" }) { return paths(node) }
        if entries.contains(where: { $0.key == "images" }) { return images(node) }
        if entries.contains(where: { $0.key == "image" }) { return image(node) }
        if entries.contains(where: { $0.key == "playlist" }) { return playlist(node) }
        guard let fields = reader.fields(node, as: Language.fileAsset) else { return nil }
        let timing = reader.choiceOrDefault("timing", of: fields, as: AssetTiming.self)
        let language = reader.value("language", of: fields, as: String.self)
        guard let source = fields["path"].flatMap({ path($0.value) }) else { return nil }
        return AssetSpec(source: source, timing: timing, language: language, range: node.range)
    }

    private func remote(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.urlAsset) else { return nil }
        let timing = reader.choiceOrDefault("timing", of: fields, as: AssetTiming.self)
        let url = reader.value("url", of: fields, as: String.self)
        guard let url else { return nil }
        return AssetSpec(
            source: .url(url), timing: timing,
            range: node.range)
    }

    private func paths(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.pathsAsset) else { return nil }
        let timing = reader.choiceOrDefault("timing", of: fields, as: AssetTiming.self)
        let entries = fields["paths"].flatMap { list($0, atMost: Language.maxPaths) }
        let exceptions = fields["except"].map { list($0, atMost: Language.maxPatterns) } ?? []
        guard let node = fields.value("paths"), let entries, let exceptions,
            areWithinLimits(entries, Language.maxPaths, of: "paths"),
            areWithinLimits(entries.filter(\.isPattern), Language.maxPatterns, of: "patterns"),
            areWithinLimits(exceptions, Language.maxPatterns, of: "patterns")
        else { return nil }
        if let except = fields["except"], !entries.contains(where: \.isPattern) {
            reader.sink.error(
                .conflictingKeys, "`except` requires a pattern in `paths`; the list contains only paths",
                at: except.keyRange, notes: [Diagnostic.Note("`paths` is here", at: node.range)],
                help: "remove the files from `paths`")
            return nil
        }
        return AssetSpec(
            source: .glob(FilePatterns(entries: entries, exceptions: exceptions, range: node.range)),
            timing: timing, range: node.range)
    }

    /// Returns the paths and patterns of a list; nil after an error is reported.
    private func list(_ entry: YAMLNode.Entry, atMost maximum: Int) -> [FilePatterns.Entry]? {
        guard case .sequence(let items) = entry.value.content else {
            reader.sink.error(
                .wrongType, "`\(entry.key)` must be a list of paths and patterns, not \(entry.value.kind)",
                at: entry.value.range, help: "write it as `\(entry.key): [ … ]`")
            return nil
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "`\(entry.key)` is empty; expected at least one path or pattern",
                at: entry.value.range)
            return nil
        }
        guard items.count <= maximum else {
            reader.sink.error(
                .yamlLimit, "`\(entry.key)` has more than \(maximum) entries", at: entry.value.range)
            return nil
        }
        let entries = items.compactMap { localPath($0).flatMap { patterns($0) } }
        return entries.count == items.count ? entries : nil
    }

    /// Returns whether the entries stand for at most a number of paths or patterns, and reports the entry that exceeds
    /// it.
    private func areWithinLimits(_ entries: [FilePatterns.Entry], _ maximum: Int, of what: String) -> Bool {
        var count = 0
        for entry in entries {
            count += entry.expansions.count
            guard count > maximum else { continue }
            reader.sink.error(
                .fanOut, "the list stands for more than \(maximum) \(what), with its braces expanded",
                at: entry.written.range)
            return false
        }
        return true
    }

    private func images(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.imagesAsset) else { return nil }
        let rate = rate(fields)
        guard let node = fields.value("images"), let path = plainPath(node),
            reader.isLocal(path, "`images`"),
            reader.value(node, "`images`", Language.imagesPath) != nil, let rate
        else { return nil }
        return AssetSpec(
            source: .images(path, frameRate: rate.value), timing: .fast, range: node.range)
    }

    private func image(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.imageAsset) else { return nil }
        let written = fields.value("image").flatMap { plainPath($0) }
        let path = written.flatMap { reader.isLocal($0, "`image`") ? $0 : nil }
        let length = reader.length("duration", of: fields)
        let rate = rate(fields)
        guard let path, let length, !fields.has("frame_rate") || rate != nil else { return nil }
        return AssetSpec(
            source: .image(
                path, duration: length.value,
                frameRate: rate?.value ?? reader.defaultValue("frame_rate", of: fields.type)),
            timing: .fast, range: node.range)
    }

    private func playlist(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.playlistAsset) else { return nil }
        let timing = reader.choiceOrDefault("timing", of: fields, as: AssetTiming.self)
        guard let written = fields.value("playlist"), let path = plainPath(written),
            reader.isLocal(path, "a playlist", help: "copy the package to a local folder")
        else { return nil }
        return AssetSpec(source: .playlist(path), timing: timing, range: node.range)
    }

    private func rate(_ fields: Fields) -> Located<Rational>? {
        reader.value("frame_rate", of: fields)
    }

    /// Reads a path without glob expansion: `*` and `?` are ordinary characters.
    private func plainPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.path(node, "a path"), !reader.hasTypographicQuotes(node, path: path) else {
            return nil
        }
        return path
    }

    private func path(_ node: YAMLNode) -> AssetSpec.Source? {
        guard let path = localPath(node) else { return nil }
        // Braces alone are part of a file's name.
        guard GlobPattern.isPattern(path.value) else { return .file(path) }
        return patterns(path).map {
            .glob(FilePatterns(entries: [$0], exceptions: [], range: path.range))
        }
    }

    /// Returns the patterns that a text stands for; nil after an error is reported.
    private func patterns(_ text: Located<String>) -> FilePatterns.Entry? {
        if let problem = GlobPattern.problem(text.value) {
            reader.sink.error(.invalidValue, "invalid pattern: \(problem)", at: text.range)
            return nil
        }
        return FilePatterns.Entry(text)
    }

    /// Reads the path of a local file, or a pattern.
    private func localPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = plainPath(node) else { return nil }
        if path.value.utf8.contains(0x3a), path.value.contains("://") {
            reader.sink.error(
                .invalidValue, "a path must be a local file, not a URL", at: path.range,
                help: SourceLocation.isRemote(path.value)
                    ? "write a remote asset as `{ url: … }`; it requires `--allow-network`"
                    : URLScheme(startOf: path.value)?.helpForFile
                        ?? "only http and https URLs are supported, as `{ url: … }`; copy other sources to a local file"
            )
            return nil
        }
        return path
    }

    private func pattern(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.pattern) else { return nil }
        let name = reader.word("pattern", of: fields)
        let size = reader.valueOrDefault("size", of: fields, as: PixelSize.self)
        let rate = rate(fields)
        let tone = reader.value("tone", of: fields, as: Int32.self)
        let length = reader.length("duration", of: fields)
        if fields.has("duration"), length == nil { return nil }
        guard let name else { return nil }
        return AssetSpec(
            source: .pattern(
                TestPattern(
                    name: name.value, width: size.width, height: size.height,
                    frameRate: rate?.value ?? reader.defaultValue("frame_rate", of: fields.type),
                    duration: length?.value ?? reader.defaultValue("duration", of: fields.type),
                    toneFrequency: tone.map { Int($0.value) })),
            timing: .fast, range: node.range)
    }
}
