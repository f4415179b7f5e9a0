public import Diagnostics
internal import LibAV
internal import Media
public import YAMLDocument

/// Turns a document into a job file, and checks everything that needs no media.
public struct JobFileDecoder {
    private var reader = NodeReader()
    private let path: String
    private let directory: String

    private init(path: String, directory: String) {
        self.path = path
        self.directory = directory
    }

    /// Decodes and checks. Nil where nothing can be made of it; problems are in the sink.
    public static func decode(
        _ root: YAMLNode?, path: String, directory: String, into sink: inout DiagnosticSink
    ) -> JobFile? {
        guard let root else {
            if !sink.hasErrors { sink.error(.missingKey, "the file is empty", at: .startOfFile(path)) }
            return nil
        }
        var decoder = JobFileDecoder(path: path, directory: directory)
        let file = decoder.file(root)
        for diagnostic in decoder.reader.sink.diagnostics { sink.add(diagnostic) }
        return file
    }

    private mutating func file(_ node: YAMLNode) -> JobFile? {
        guard let keys = reader.entries(node, as: Language.file) else { return nil }
        if let version = keys["version"] {
            _ = reader.value(version.value, "`version`", "this tandem reads version \(Language.version)") {
                $0 == "\(Language.version)" ? 1 : nil
            }
        }
        var file = JobFile(path: path, directory: directory, name: Self.stem(path), assets: [], jobs: [])
        if let name = keys["name"].flatMap({ reader.text($0.value, "`name`") }) { file.name = name.value }
        for entry in named(keys["assets"], "an asset") {
            if let asset = asset(entry.value) {
                file.assets.append((Located(entry.key, at: entry.keyRange), asset))
            }
        }
        for entry in named(keys["jobs"], "a job") {
            if let job = job(entry) { file.jobs.append(job) }
        }
        if let jobs = keys["jobs"], case .mapping(let entries) = jobs.value.content, entries.isEmpty {
            reader.sink.error(.missingKey, "there is no job", at: jobs.keyRange)
        }
        checkReferences(file, defined: keys)
        return file
    }

    static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The entries of a mapping whose keys the user chooses.
    private mutating func named(_ entry: YAMLNode.Entry?, _ what: String) -> [YAMLNode.Entry] {
        guard let entry else { return [] }
        guard case .mapping(let entries) = entry.value.content else {
            reader.sink.error(
                .wrongType, "`\(entry.key)` is a mapping of ids, not \(entry.value.kind)",
                at: entry.value.range)
            return []
        }
        return entries.filter { item in
            if item.key.hasPrefix("x-") { return false }
            if NodeReader.isIdentifier(item.key) { return true }
            reader.sink.error(
                .invalidName,
                "\(what)'s id can't be `\(item.key)`; it begins with a letter or `_`, then letters, digits, `_` and `-`",
                at: item.keyRange)
            return false
        }
    }

    // MARK: Assets

    private mutating func asset(_ node: YAMLNode) -> AssetSpec? {
        if node.text != nil {
            guard let path = filePath(node) else { return nil }
            return AssetSpec(source: .file(path), timing: .fast, range: node.range)
        }
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(.wrongType, "an asset is a path or a mapping, not \(node.kind)", at: node.range)
            return nil
        }
        let names = Set(entries.map(\.key))
        if names.contains("pattern") { return pattern(node) }
        if names.contains("job") {
            guard let keys = reader.entries(node, as: Language.jobAsset), let job = keys["job"],
                let id = reader.text(job.value, "`job`")
            else { return nil }
            return AssetSpec(source: .job(id), timing: .fast, range: node.range)
        }
        for later in ["url", "images", "image"] {
            if let entry = entries.first(where: { $0.key == later }) {
                reader.sink.error(
                    .notSupported,
                    "`\(later)` is part of the job language, but this version of tandem doesn't have it yet",
                    at: entry.keyRange)
                return nil
            }
        }
        guard let keys = reader.entries(node, as: Language.fileAsset) else { return nil }
        let timing = reader.word(keys["timing"]?.value, "`timing`", of: AssetTiming.allCases.map(\.rawValue))
        guard let path = keys["path"].flatMap({ filePath($0.value) }) else { return nil }
        return AssetSpec(
            source: .file(path), timing: timing.flatMap { AssetTiming(rawValue: $0.value) } ?? .fast,
            range: node.range)
    }

    private mutating func filePath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.text(node, "a path") else { return nil }
        guard !path.value.isEmpty, path.value.utf8.count <= 4096 else {
            reader.sink.error(.invalidValue, "a path has between 1 and 4096 bytes", at: path.range)
            return nil
        }
        if path.value.contains(where: { "*?[".contains($0) }) {
            reader.sink.error(
                .notSupported,
                "globs are part of the job language, but this version of tandem doesn't have them yet",
                at: path.range)
            return nil
        }
        if path.value.contains("://") {
            reader.sink.error(.invalidValue, "a path names a local file, not a URL", at: path.range)
            return nil
        }
        return path
    }

    private mutating func pattern(_ node: YAMLNode) -> AssetSpec? {
        guard let keys = reader.entries(node, as: Language.pattern) else { return nil }
        let name = reader.word(keys["pattern"]?.value, "`pattern`", of: TestPattern.sources.map(\.name))
        let size = reader.value(keys["size"]?.value, "`size`", "it is written like 1280x720, both sides even")
        { text in
            Quantity.dimensions(text).flatMap {
                $0.width.map { $0 % 2 == 0 } == true && $0.height.map { $0 % 2 == 0 } == true ? $0 : nil
            }
        }
        let rate = frameRate(keys["frame_rate"])
        let tone = reader.value(
            keys["tone"]?.value, "`tone`", "it is a frequency from 1 Hz to 20 kHz, like 1kHz"
        ) {
            Quantity.frequency($0).flatMap { $0 <= 20_000 ? Int($0) : nil }
        }
        let duration = reader.time(keys["duration"]?.value, "`duration`")
        var length = MediaTime(value: 10, timescale: 1)
        if let duration {
            guard case .absolute(let time) = duration.value, time > .zero,
                time <= MediaTime(value: 86_400, timescale: 1)
            else {
                reader.sink.error(
                    .invalidValue, "a test signal lasts some time, up to a day", at: duration.range)
                return nil
            }
            length = time
        }
        guard let name else { return nil }
        return AssetSpec(
            source: .pattern(
                TestPattern(
                    name: name.value, width: size?.value.width ?? 1280, height: size?.value.height ?? 720,
                    frameRate: rate?.value ?? Rational(25, 1), duration: length, toneFrequency: tone?.value)),
            timing: .fast, range: node.range)
    }

    private mutating func frameRate(_ entry: YAMLNode.Entry?) -> Located<Rational>? {
        reader.value(entry?.value, "`frame_rate`", "it is written like 25, 29.97 or 30000/1001, up to 1000") {
            Quantity.frameRate($0)
        }
    }

    // MARK: Jobs

    private mutating func job(_ entry: YAMLNode.Entry) -> JobSpec? {
        guard let keys = reader.entries(entry.value, as: Language.job) else { return nil }
        let asset = keys["asset"].flatMap { reference($0.value) }
        let range = keys["range"].flatMap { timeRange($0.value) }
        var tracks: [TrackRule] = []
        var rulesAreWhole = true
        if let list = keys["tracks"] {
            if case .sequence(let items) = list.value.content {
                if items.isEmpty { reader.sink.error(.missingKey, "a job needs a track", at: list.keyRange) }
                for item in items {
                    var decoder = TrackRuleDecoder(reader: reader)
                    let rule = decoder.rule(item)
                    reader = decoder.reader
                    if let rule { tracks.append(rule) } else { rulesAreWhole = false }
                }
            } else {
                reader.sink.error(
                    .wrongType, "`tracks` is a list of rules, not \(list.value.kind)", at: list.value.range)
            }
        }
        let named = reader.word(keys["container"]?.value, "`container`", of: ContainerType.all.map(\.name))
        let optimize = reader.boolean(keys["optimize_for_network"]?.value, "`optimize_for_network`")
        let metadata = keys["metadata"].map { tags($0.value) } ?? MetadataSpec()
        guard let destination = keys["destination"].flatMap({ target($0.value) }) else { return nil }
        guard let container = containerType(named, hasKey: keys["container"] != nil, destination: destination)
        else { return nil }
        guard let asset, rulesAreWhole, !tracks.isEmpty else { return nil }
        let job = JobSpec(
            id: Located(entry.key, at: entry.keyRange), asset: asset, range: range, tracks: tracks,
            container: container,
            optimizeForNetwork: optimize, metadata: metadata, destination: destination)
        ContainerCheck.check(job, into: &reader.sink)
        return job
    }

    private mutating func reference(_ node: YAMLNode) -> AssetReference? {
        guard let text = node.text else { return asset(node).map { .inline($0) } }
        if NodeReader.isIdentifier(text) { return .id(Located(text, at: node.range)) }
        if !text.contains("/"), !text.contains(".") {
            reader.sink.error(
                .invalidName, "`\(text)` is neither an asset's id nor a path (which has a `/` or a `.`)",
                at: node.range)
            return nil
        }
        return asset(node).map { .inline($0) }
    }

    private mutating func timeRange(_ node: YAMLNode) -> RangeSpec? {
        if case .sequence = node.content {
            reader.sink.error(
                .notSupported,
                "several ranges joined are part of the job language, but this version of tandem doesn't have them yet",
                at: node.range)
            return nil
        }
        guard let keys = reader.entries(node, as: Language.range) else { return nil }
        let spec = RangeSpec(
            start: reader.time(keys["start"]?.value, "`start`"),
            end: reader.time(keys["end"]?.value, "`end`"),
            duration: reader.time(keys["duration"]?.value, "`duration`"), range: node.range)
        // What the file alone shows; the rest needs the source.
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

    private mutating func tags(_ node: YAMLNode) -> MetadataSpec {
        var spec = MetadataSpec()
        guard let keys = reader.entries(node, as: Language.metadata) else { return spec }
        if let keep = keys["keep"] {
            if case .sequence(let items) = keep.value.content {
                spec.keep = .keys(items.compactMap { reader.text($0, "a tag")?.value })
            } else if let word = reader.word(keep.value, "`keep`", of: ["all", "none"]) {
                spec.keep = word.value == "all" ? .all : .none
            }
        }
        if let set = keys["set"] {
            if case .mapping(let entries) = set.value.content {
                for entry in entries {
                    if let value = reader.text(entry.value, "`\(entry.key)`") {
                        spec.set.append((Located(entry.key, at: entry.keyRange), value.value))
                    }
                }
            } else {
                reader.sink.error(
                    .wrongType, "`set` is a mapping of tags, not \(set.value.kind)", at: set.value.range)
            }
        }
        return spec
    }

    private mutating func target(_ node: YAMLNode) -> DestinationSpec? {
        if node.text != nil {
            guard let path = destinationPath(node) else { return nil }
            return DestinationSpec(path: path, ifExists: .fail, makesDirectories: true)
        }
        guard let keys = reader.entries(node, as: Language.destination) else { return nil }
        let ifExists = reader.word(
            keys["if_exists"]?.value, "`if_exists`", of: IfExists.allCases.map(\.rawValue))
        let makes = reader.boolean(keys["make_directories"]?.value, "`make_directories`")
        guard let path = keys["path"].flatMap({ destinationPath($0.value) }) else { return nil }
        return DestinationSpec(
            path: path, ifExists: ifExists.flatMap { IfExists(rawValue: $0.value) } ?? .fail,
            makesDirectories: makes?.value ?? true)
    }

    private mutating func destinationPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.text(node, "a destination") else { return nil }
        let name = path.value.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard !name.isEmpty, name != ".", name != "..", path.value.utf8.count <= 4096, name.utf8.count <= 255
        else {
            reader.sink.error(
                .invalidValue, "a destination names a file of at most 255 bytes, not a folder", at: path.range
            )
            return nil
        }
        return path
    }

    private mutating func containerType(
        _ named: Located<String>?, hasKey: Bool, destination: DestinationSpec
    ) -> Located<ContainerType>? {
        if let named { return ContainerType.named(named.value).map { Located($0, at: named.range) } }
        if hasKey { return nil }
        let path = destination.path.value
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let known = ContainerType.all.flatMap(\.extensions)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            reader.sink.error(
                .unknownContainer, "the destination has no extension that tells the container",
                at: destination.path.range,
                help:
                    "name it: `container:` is one of \(ContainerType.all.map(\.name).joined(separator: ", "))"
            )
            return nil
        }
        let fileExtension = String(name[name.index(after: dot)...])
        guard let type = ContainerType.forExtension(fileExtension) else {
            reader.sink.error(
                .unknownContainer, "`.\(fileExtension)` tells no container", at: destination.path.range,
                help: Suggestion.help(for: fileExtension.lowercased(), among: known)
                    ?? "name it: `container:` is one of \(ContainerType.all.map(\.name).joined(separator: ", "))"
            )
            return nil
        }
        return Located(type, at: destination.path.range)
    }

    // MARK: Names

    private mutating func checkReferences(_ file: JobFile, defined keys: [String: YAMLNode.Entry]) {
        func ids(_ key: String) -> Set<String> {
            guard case .mapping(let entries)? = keys[key]?.value.content else { return [] }
            return Set(entries.map(\.key))
        }
        let (assets, jobs) = (ids("assets"), ids("jobs"))
        for job in file.jobs {
            if case .id(let id) = job.asset, !assets.contains(id.value) {
                reader.sink.error(
                    .undefinedName, "there is no asset `\(id.value)`", at: id.range,
                    help: Suggestion.help(for: id.value, among: assets.sorted())
                        ?? (assets.isEmpty
                            ? "the file defines no assets; a path has a `/` or a `.`"
                            : "the assets are \(assets.sorted().joined(separator: ", "))"))
            }
        }
        let specs =
            file.assets.map(\.asset)
            + file.jobs.compactMap { if case .inline(let spec) = $0.asset { spec } else { nil } }
        for spec in specs {
            guard case .job(let id) = spec.source, !jobs.contains(id.value) else { continue }
            reader.sink.error(
                .undefinedName, "there is no job `\(id.value)`", at: id.range,
                help: Suggestion.help(for: id.value, among: jobs.sorted()))
        }
        DependencyCheck.check(file, into: &reader.sink)
    }
}
