internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import Streaming
internal import YAMLDocument

/// Decoder of a job's `package`, and of the outputs that become its renditions.
struct PackageDecoder {
    let reader: NodeReader
    /// The entry of `package` in the job.
    let entry: YAMLNode.Entry
    /// All outputs of the job.
    let outputs: [YAMLNode.Entry]

    /// The key of thumbnails.
    static let thumbnails = "thumbnails"
    /// The key of the container.
    static let container = "container"
    /// The key of audio groups.
    static let audio = "audio"
    /// Id of a package among the outputs of its job.
    static let id = "package"

    /// Returns the package as an output of its job; nil after an error is reported.
    func output(_ renditions: [OutputSpec], destination decode: (YAMLNode) -> DestinationSpec?) -> OutputSpec?
    {
        guard let fields = reader.fields(entry.value, as: Language.package) else { return nil }
        let errors = reader.sink.errorCount
        let segment =
            segment(fields)
            ?? Located(reader.defaultValue("segment", of: Language.package), at: entry.value.range)
        let container = container(fields)
        var renditions = renditions
        for index in renditions.indices
        where container.value == .mp4 && [.video, .audio].contains(Self.trackType(of: renditions[index])) {
            // Segments are fragments, as which the finished file is verified.
            guard case .media(var media) = renditions[index].kind else { continue }
            media.fragmentInterval = segment
            renditions[index].kind = .media(media)
        }
        let groups = audioGroups(fields, renditions)
        let spec = PackageSpec(
            formats: formats(fields), segment: segment,
            files: reader.choiceOrDefault("files", of: fields), container: container,
            variants: variants(fields, renditions, groups), audioGroups: groups,
            keyframePlaylists: keyframePlaylists(fields),
            thumbnails: thumbnails(fields, renditions), renditions: renditions, range: entry.keyRange)
        checkRenditions(renditions)
        checkKeyframePlaylists(spec)
        checkContainer(spec)
        let destination = fields["destination"].flatMap { decode($0.value) }
        guard let destination, reader.sink.errorCount == errors else { return nil }
        return OutputSpec(
            id: Located(Self.id, at: entry.keyRange), tracks: [], kind: .package(spec),
            destination: destination)
    }

    /// Validates the values of a package in `defaults`, for a job without outputs.
    func check(destination decode: (YAMLNode) -> DestinationSpec?) {
        guard let fields = reader.fields(entry.value, as: Language.package.partial()) else { return }
        _ = formats(fields)
        _ = segment(fields)
        _ = reader.choice("files", of: fields, as: PackageFiles.self)
        _ = container(fields)
        _ = keyframePlaylists(fields)
        _ = thumbnailsID(fields)
        if let written = fields[Self.audio] { checkGroups(written) }
        if let written = fields["variants"] {
            for item in variantNodes(written) ?? [] { _ = reader.fields(item, as: Language.packageVariant) }
        }
        _ = fields["destination"].flatMap { decode($0.value) }
    }

    private func segment(_ fields: Fields) -> Located<MediaTime>? {
        reader.length("segment", of: fields)
    }

    private func formats(_ fields: Fields) -> [Located<StreamingFormat>] {
        guard let written = fields["formats"] else {
            return StreamingFormat.allCases.map { Located($0, at: entry.value.range) }
        }
        var formats: [Located<StreamingFormat>] = []
        for item in reader.list(written.value) {
            guard let word = reader.word(item, "`formats`", of: StreamingFormat.allCases.map(\.rawValue)),
                let format = StreamingFormat(rawValue: word.value)
            else { continue }
            if formats.contains(where: { $0.value == format }) {
                reader.sink.error(.invalidValue, "the format `\(word.value)` is listed twice", at: word.range)
            }
            formats.append(Located(format, at: word.range))
        }
        if case .sequence(let items) = written.value.content, items.isEmpty {
            reader.sink.error(
                .missingKey, "`formats` is empty; expected `hls`, `dash` or both", at: written.value.range)
        }
        return formats
    }

    /// Returns the container of the segments; the default is located at the package.
    private func container(_ fields: Fields) -> Located<SegmentContainer> {
        reader.choice(Self.container, of: fields)
            ?? Located(reader.choiceOrDefault(Self.container, of: fields), at: entry.value.range)
    }

    /// Reports formats whose manifests can't refer to segments in the container.
    private func checkContainer(_ spec: PackageSpec) {
        let container = spec.container
        for format in spec.formats where !container.value.formats.contains(format.value) {
            // Formats that aren't written are located at the package.
            let isDefault = format.range == entry.value.range
            reader.sink.error(
                .conflictingKeys,
                "the format `\(format.value.rawValue)` doesn't support `container: \(container.value.rawValue)`",
                at: isDefault ? container.range : format.range,
                notes: isDefault ? [] : [Diagnostic.Note("`container` is here", at: container.range)],
                help: "use `formats: [hls]`, or `container: mp4`")
        }
    }

    private func keyframePlaylists(_ fields: Fields) -> SourceRange? {
        reader.boolean("iframes", of: fields).flatMap { $0.value ? $0.range : nil }
    }

    private func checkKeyframePlaylists(_ spec: PackageSpec) {
        guard let location = spec.keyframePlaylists else { return }
        if !spec.formats.isEmpty, !spec.formats.contains(where: { $0.value == .hls }) {
            reader.sink.error(.conflictingKeys, "`iframes` requires the format `hls`", at: location)
        }
        if !spec.renditions.contains(where: { Self.trackType(of: $0) == .video }) {
            reader.sink.error(.conflictingKeys, "`iframes` requires an output with video", at: location)
        }
    }

    // MARK: Renditions

    /// Returns the type of a rendition's track; nil for thumbnails.
    private static func trackType(of rendition: OutputSpec) -> MediaType? {
        rendition.images == nil ? rendition.tracks.first?.mediaType : nil
    }

    private func checkRenditions(_ renditions: [OutputSpec]) {
        for rendition in renditions where rendition.images == nil {
            guard let rule = rendition.tracks.first else { continue }
            let location = rendition.id?.range ?? rule.range
            for rule in rendition.tracks { refuseConditions(of: rule) }
            if rendition.tracks.count > 1, rendition.tracks.allSatisfy({ $0.choice == nil }) {
                reader.sink.error(
                    .conflictingKeys,
                    "an output of a `package` has one track rule; this one has \(rendition.tracks.count)",
                    at: location, notes: [Diagnostic.Note("`package` is here", at: entry.keyRange)],
                    help: "write each track as an output of its own, or set `destination`")
            }
            if let (key, _) = rule.metadata.first(where: { MetadataEntry.isTimecode($0.key.value) }) {
                reader.sink.error(
                    .containerSetting, "a `package` can't store a timecode", at: key.range,
                    notes: [Diagnostic.Note("`package` is here", at: entry.keyRange)])
            }
            switch rule.mediaType {
            case .video, .audio: checkFrames(of: rule)
            case .subtitle: checkSubtitles(rule)
            default:
                reader.sink.error(
                    .conflictingKeys,
                    "a `package` can't contain \(rule.mediaType.rawValue) tracks; expected video, audio or subtitles",
                    at: rule.range)
            }
        }
        let types = renditions.map(Self.trackType)
        if !renditions.isEmpty, types.allSatisfy({ $0 == nil || $0 == .subtitle }) {
            reader.sink.error(
                .conflictingKeys, "the `package` has no output with video or audio", at: entry.keyRange)
        }
    }

    /// Reports conditions of a rule: the renditions of a package don't depend on its source.
    private func refuseConditions(of rule: TrackRule) {
        // One message for all entries of `choose`.
        if let choice = rule.choice, choice.index > 0 { return }
        guard
            let (key, range) = rule.choice.map({ ("choose", $0.range) })
                ?? rule.when.map({ ("when", $0.range) })
        else { return }
        reader.sink.error(
            .conflictingKeys, "`\(key)` can't be set for an output of a `package`", at: range,
            notes: [Diagnostic.Note("`package` is here", at: entry.keyRange)],
            help: "`when` of the job applies to the whole package")
    }

    /// Reports a setting of a video or audio rule that segments don't support.
    private func checkFrames(of rule: TrackRule) {
        guard case .copy(let range, let otherwise?) = rule.action else { return }
        reader.sink.error(
            .conflictingKeys,
            "a `package` can't combine `copy` with `encode`: a segment would change its format",
            at: otherwise.range, notes: [Diagnostic.Note("`copy` is here", at: range)])
    }

    /// Reports copied subtitles. `ContainerCheck` reports other text formats.
    private func checkSubtitles(_ rule: TrackRule) {
        if case .encodeSubtitle = rule.action { return }
        reader.sink.error(
            .conflictingKeys, "subtitles of a `package` must be WebVTT", at: rule.action.range,
            help: "use `encode: { codec: webvtt }`")
    }

    // MARK: Thumbnails

    /// Returns the id of the output that `thumbnails` names; nil without one, or after an error is reported.
    private func thumbnailsID(_ fields: Fields) -> Located<String>? {
        guard let node = fields.value(Self.thumbnails), let id = reader.text(node, "`\(Self.thumbnails)`")
        else { return nil }
        if !id.value.isEmpty { return id }
        reader.sink.error(
            .invalidValue, "`\(Self.thumbnails)` is empty; expected the id of an output", at: id.range)
        return nil
    }

    /// Returns the location of a valid request for thumbnails; nil without one, or after an error is reported.
    private func thumbnails(_ fields: Fields, _ renditions: [OutputSpec]) -> SourceRange? {
        guard let id = thumbnailsID(fields) else { return nil }
        guard let output = outputs.first(where: { $0.key.exact == id.value.exact }) else {
            let ids = outputs.filter { $0.value[key: "images"] != nil }.map(\.key)
            reader.sink.error(
                .undefinedName, "the job has no output `\(id.value)`", at: id.range,
                help: Suggestion.help(for: id.value, among: ids)
                    ?? "add an output such as `\(id.value): { images: { every: 10s, size: 160x, sheet: { columns: 10 } } }`"
            )
            return nil
        }
        let note = Diagnostic.Note("the output is here", at: output.keyRange)
        func refuse(_ message: String, at location: SourceRange? = nil, help: String) -> SourceRange? {
            let request = location == nil ? note : Diagnostic.Note("`thumbnails` is here", at: id.range)
            reader.sink.error(
                .conflictingKeys, message, at: location ?? id.range, notes: [request], help: help)
            return nil
        }
        guard output.value[key: "images"] != nil else {
            return refuse(
                "the output `\(id.value)` has no `images`, so it can't be the thumbnails",
                help: "use an output such as `{ images: { every: 10s, size: 160x, sheet: { columns: 10 } } }`"
            )
        }
        guard output.value[key: "destination"] == nil else {
            return refuse(
                "the output `\(id.value)` has a `destination`, so it isn't part of the `package`",
                help: "remove its `destination`")
        }
        // Errors of the output are already reported.
        guard let images = renditions.first(where: { $0.id?.value.exact == id.value.exact })?.images else {
            return nil
        }
        guard let sheet = images.sheet else {
            return refuse(
                "the output `\(id.value)` isn't a sheet, so it can't be the thumbnails",
                help: "add `sheet: { columns: 10 }` to its `images`")
        }
        switch images.selection {
        case .every, .count: break
        case .at, .keyFrames, .scenes:
            return refuse(
                "thumbnails of a `package` require equal intervals", at: images.location,
                help: "use `every` or `count`")
        }
        if let animation = images.animation {
            return refuse("thumbnails can't be animated", at: animation.range, help: "remove `animation`")
        }
        if let index = sheet.index {
            return refuse(
                "the sheet of a `package` has no `index`, because the manifests describe its parts",
                at: index, help: "remove `index`")
        }
        if let format = images.format, ThumbnailSheet.Format(rawValue: format.value) == nil {
            return refuse(
                "thumbnails of a `package` can't be \(format.value)", at: format.range,
                help: "use jpeg or png")
        }
        return id.range
    }

    // MARK: Variants

    private func variants(
        _ fields: Fields, _ renditions: [OutputSpec], _ groups: [PackageSpec.AudioGroup]
    ) -> [PackageSpec.Variant] {
        guard let written = fields["variants"], let items = variantNodes(written) else { return [] }
        var variants: [PackageSpec.Variant] = []
        var hasErrors = false
        for item in items {
            let errors = reader.sink.errorCount
            guard let fields = reader.fields(item, as: Language.packageVariant) else { continue }
            let video = fields.value("video").flatMap { id($0, "`video`", .video, among: renditions) }
            let audio = fields.value("audio").map { self.audio($0, renditions, groups) } ?? [nil]
            let found = audio.map { audio in
                PackageSpec.Variant(video: video, audio: audio?.id, audioGroup: audio?.group)
            }
            guard reader.sink.errorCount == errors, let variant = found.first else {
                hasErrors = true
                continue
            }
            if let earlier = variants.first(where: { $0.hasSameRenditions(as: variant) }) {
                reader.sink.error(
                    .invalidValue, "two variants have the same renditions", at: item.range,
                    notes: (earlier.video ?? earlier.audio).map {
                        [Diagnostic.Note("the first one is here", at: $0.range)]
                    } ?? [])
            }
            variants += found
        }
        if !hasErrors { checkVariants(variants, of: written, renditions) }
        return variants
    }

    /// Returns the entries of `variants`; nil after an error is reported.
    private func variantNodes(_ written: YAMLNode.Entry) -> [YAMLNode]? {
        guard case .sequence(let items) = written.value.content else {
            reader.sink.error(
                .wrongType, "`variants` must be a list, not \(written.value.kind)", at: written.value.range,
                help: "write it as `variants: [ { video: hd, audio: main } ]`")
            return nil
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "`variants` is empty; expected at least one entry", at: written.value.range)
            return nil
        }
        return items
    }

    /// Returns the audio renditions that a variant names by the id of an output or by the name of a group; empty after an
    /// error is reported.
    private func audio(
        _ node: YAMLNode, _ renditions: [OutputSpec], _ groups: [PackageSpec.AudioGroup]
    ) -> [(id: Located<String>, group: String?)?] {
        if let group = groups.first(where: { $0.name.value.exact == node.text?.exact }) {
            return group.outputs.map { (Located($0, at: node.range), group.name.value) }
        }
        let names = groups.map(\.name.value)
        guard let id = id(node, "`audio`", .audio, among: renditions, orGroups: names) else { return [] }
        guard !groups.isEmpty else { return [(id, nil)] }
        reader.sink.error(
            .conflictingKeys, "`\(id.value)` is an output, not a group of `audio`", at: id.range,
            notes: groups.first.map { [Diagnostic.Note("`audio` is here", at: $0.name.range)] } ?? [],
            help: "expected one of \(names.joined(separator: ", "))")
        return []
    }

    /// Returns the id of a rendition with a type; nil after an error is reported. `groups` are names that are also valid.
    private func id(
        _ node: YAMLNode, _ key: String, _ type: MediaType, among renditions: [OutputSpec],
        orGroups groups: [String] = []
    ) -> Located<String>? {
        guard let id = reader.text(node, key) else { return nil }
        guard let rendition = renditions.first(where: { $0.id?.value.exact == id.value.exact }) else {
            let ids =
                groups.isEmpty
                ? renditions.filter { Self.trackType(of: $0) == type }.compactMap(\.id?.value) : groups
            reader.sink.error(
                .undefinedName,
                "the `package` has no output\(groups.isEmpty ? "" : " and no group") `\(id.value)`",
                at: id.range,
                help: Suggestion.help(for: id.value, among: ids)
                    ?? (ids.isEmpty ? nil : "expected one of \(ids.joined(separator: ", "))"))
            return nil
        }
        let found = Self.trackType(of: rendition)
        if found == type || found == nil && rendition.images == nil { return id }
        reader.sink.error(
            .conflictingKeys,
            "the output `\(id.value)` has \(found?.rawValue ?? "images"), not \(type.rawValue)",
            at: id.range,
            notes: rendition.id.map { [Diagnostic.Note("the output is here", at: $0.range)] } ?? [])
        return nil
    }

    // MARK: Groups

    /// Returns the entries of `audio`, whose keys are names of groups; nil after an error is reported.
    private func groupEntries(_ written: YAMLNode.Entry) -> [YAMLNode.Entry]? {
        guard case .mapping(let entries) = written.value.content else {
            reader.sink.error(
                .wrongType, "`audio` must be a mapping, not \(written.value.kind)", at: written.value.range,
                help: "write it as `audio: { stereo: [eng, fra] }`")
            return nil
        }
        if entries.isEmpty {
            reader.sink.error(
                .missingKey, "`audio` is empty; expected at least one group", at: written.value.range)
            return nil
        }
        for entry in entries where !Identifier.isValid(entry.key) {
            reader.sink.error(
                .invalidName, "`\(entry.key)` is not a valid name of a group", at: entry.keyRange,
                help: "names contain only letters, digits, `_` and `-`")
        }
        return entries.allSatisfy { Identifier.isValid($0.key) } ? entries : nil
    }

    /// Validates the form of `audio` in `defaults`, where the outputs aren't known.
    private func checkGroups(_ written: YAMLNode.Entry) {
        for entry in groupEntries(written) ?? [] {
            checkIsNotEmpty(entry)
            for item in reader.list(entry.value) {
                guard let id = reader.text(item, "the id of an output"), !Identifier.isValid(id.value) else {
                    continue
                }
                reader.sink.error(
                    .invalidName, "`\(id.value)` is not a valid id of an output", at: id.range,
                    help: "names contain only letters, digits, `_` and `-`")
            }
        }
    }

    private func checkIsNotEmpty(_ group: YAMLNode.Entry) {
        guard case .sequence(let items) = group.value.content, items.isEmpty else { return }
        reader.sink.error(
            .missingKey, "the group `\(group.key)` is empty; expected the id of at least one output",
            at: group.value.range)
    }

    private func audioGroups(_ fields: Fields, _ renditions: [OutputSpec]) -> [PackageSpec.AudioGroup] {
        guard let written = fields[Self.audio], let entries = groupEntries(written) else { return [] }
        let errors = reader.sink.errorCount
        var groups: [PackageSpec.AudioGroup] = []
        for entry in entries {
            if let output = outputs.first(where: { $0.key.exact == entry.key.exact }) {
                reader.sink.error(
                    .conflictingKeys, "`\(entry.key)` is the name of a group and the id of an output",
                    at: entry.keyRange, notes: [Diagnostic.Note("the output is here", at: output.keyRange)])
            }
            checkIsNotEmpty(entry)
            var group = PackageSpec.AudioGroup(name: Located(entry.key, at: entry.keyRange), outputs: [])
            for item in reader.list(entry.value) {
                guard let id = id(item, "the id of an output", .audio, among: renditions) else { continue }
                if group.outputs.contains(where: { $0.exact == id.value.exact }) {
                    reader.sink.error(
                        .invalidValue, "the output `\(id.value)` is listed twice", at: id.range)
                }
                group.outputs.append(id.value)
            }
            groups.append(group)
        }
        guard reader.sink.errorCount == errors else { return [] }
        let used = Set(groups.flatMap(\.outputs).map(\.exact))
        for rendition in renditions where Self.trackType(of: rendition) == .audio {
            guard let id = rendition.id, !used.contains(id.value.exact) else { continue }
            reader.sink.error(
                .conflictingKeys, "no group of `audio` has the output `\(id.value)`", at: id.range,
                notes: [Diagnostic.Note("`audio` is here", at: written.keyRange)],
                help: "add it to a group, or remove the output")
        }
        return groups
    }

    /// Reports renditions that no variant uses.
    private func checkVariants(
        _ variants: [PackageSpec.Variant], of written: YAMLNode.Entry, _ renditions: [OutputSpec]
    ) {
        let used = Set(variants.flatMap { [$0.video?.value.exact, $0.audio?.value.exact] }.compactMap { $0 })
        for rendition in renditions where [.video, .audio].contains(Self.trackType(of: rendition)) {
            guard let id = rendition.id, !used.contains(id.value.exact) else { continue }
            reader.sink.error(
                .conflictingKeys, "no entry of `variants` has the output `\(id.value)`", at: id.range,
                notes: [Diagnostic.Note("`variants` is here", at: written.keyRange)],
                help: "add it to `variants`, or remove the output")
        }
    }
}

extension PackageSpec.Variant {
    fileprivate func hasSameRenditions(as other: PackageSpec.Variant) -> Bool {
        video?.value.exact == other.video?.value.exact && audio?.value.exact == other.audio?.value.exact
            && audioGroup?.exact == other.audioGroup?.exact
    }
}
