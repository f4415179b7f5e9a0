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
        let target = entry.flatMap { destinations.file($0.value) }
        var container: Located<ContainerType>?
        if let target {
            container = destinations.container(named, hasKey: fields["container"] != nil, destination: target)
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
    typealias Rules = (rules: [TrackRule], isComplete: Bool)

    func rules(_ list: YAMLNode.Entry) -> Rules {
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
            } else if let word = reader.choice("keep", of: fields, as: KeepWord.self) {
                spec.keep =
                    switch word.value {
                    case .all: .all
                    case .none: .none
                    }
            }
        }
        spec.set = reader.tags(fields["set"])
        spec.cover = fields["cover"].flatMap { coverPath($0.value) }
        checkDates(spec.set)
        if let word = reader.choice("file_times", of: fields, as: FileTimesWord.self), word.value == .keep {
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
            return reader.choice(node, as: "chapters", of: Language.job, ChaptersWord.self).map { word in
                switch word.value {
                case .keep: Located(.keep, at: word.range)
                case .drop: Located(.drop, at: word.range)
                case .clips: Located(.clips, at: word.range)
                }
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

    /// Decoder of destinations.
    var destinations: DestinationDecoder {
        DestinationDecoder(reader: reader, isTemplate: isTemplate)
    }
}
