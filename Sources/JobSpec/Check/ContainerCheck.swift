internal import Diagnostics
internal import LibAV
internal import Media
internal import Streaming

/// Validation of an output's tracks, tags and settings against its container, without probing media.
enum ContainerCheck {
    /// Tags that hold a cover image in some containers. libavformat would write them as text.
    private static let coverKeys: Set<String> = [
        "cover", "covr", "apic", "picture", "artwork", "metadata_block_picture", "attached_pic",
    ]

    static func check(_ output: OutputSpec, into sink: inout DiagnosticSink) {
        guard let located = output.container else { return }
        let container = located.value
        for rule in output.tracks {
            if !container.mediaTypes.contains(rule.mediaType) {
                sink.error(
                    .containerCodec, "\(container.name) can't store \(rule.mediaType.rawValue) tracks",
                    at: rule.selection.range,
                    notes: [Diagnostic.Note("the container is determined here", at: located.range)])
                continue
            }
            check(
                rule.action, of: rule.mediaType, in: located, segments: output.segmentContainer, into: &sink)
            checkTags(of: rule, in: located, into: &sink)
            checkDataCodecs(of: rule, in: located, into: &sink)
        }
        // Rules whose media type the container doesn't support are already reported.
        let rules = output.tracks.filter {
            container.mediaTypes.contains($0.mediaType) && $0.isUnconditional
        }
        if container.model.isSingleTrack, rules.count > 1 {
            sink.error(
                .containerCodec, "\(container.name) can store only one track", at: rules[1].range,
                notes: [Diagnostic.Note("the first rule is here", at: rules[0].range)])
        }
        if let optimize = output.media?.optimizeForNetwork, optimize.value,
            !container.model.canOptimizeForNetwork
        {
            sink.error(
                .containerSetting,
                "`optimize_for_network` is not supported by \(container.name), which has no index to move",
                at: optimize.range)
        }
        if let fragment = output.media?.fragmentInterval, !container.model.hasFragments {
            sink.error(
                .containerSetting, "`fragment` is not supported by \(container.name)", at: fragment.range,
                notes: located.range == fragment.range
                    ? [] : [Diagnostic.Note("the container is determined here", at: located.range)],
                help: "use mp4, mov or m4a")
        }
        if let cover = output.media?.metadata.cover {
            check(cover: cover, of: output, in: located, into: &sink)
        }
        let tags = output.media?.metadata.set ?? []
        for entry in tags where entry.key.value.lowercased() == "encoder" {
            sink.error(
                .containerSetting, "the tag `encoder` can't be set: the muxer writes its own name",
                at: entry.key.range)
        }
        for entry in tags {
            let (key, name) = (entry.key, entry.key.value.lowercased())
            if let problem = problem(withTag: name, in: container) {
                sink.error(.containerSetting, problem.message, at: key.range, help: problem.help)
            } else if name == "creation_time", container.model.parsesCreationTime,
                CreationTime(entry.value) == nil,
                DateTag.problem(entry.value) == nil
            {
                sink.error(
                    .containerSetting,
                    "`creation_time` can't be `\(entry.value)`; \(container.name) requires a date and a time, such as `2024-03-09T13:36:19Z`",
                    at: key.range)
            }
        }
        if let keys = container.metadataKeys {
            for entry in tags
            where !keys.contains(entry.key.value) && !coverKeys.contains(entry.key.value.lowercased()) {
                sink.error(
                    .containerSetting, "\(container.name) can't store the tag `\(entry.key.value)`",
                    at: entry.key.range,
                    help: Suggestion.help(for: entry.key.value, among: keys.subtracting(["encoder"]).sorted())
                        ?? (keys.isEmpty
                            ? "it supports no tags"
                            : "supported tags: \(keys.subtracting(["encoder"]).sorted().joined(separator: ", "))")
                )
            }
        }
    }

    private static func checkDataCodecs(
        of rule: TrackRule, in located: Located<ContainerType>, into sink: inout DiagnosticSink
    ) {
        guard rule.mediaType == .data else { return }
        let container = located.value
        for entry in rule.selection.entries {
            guard case .matching(let criteria) = entry.value, let codec = criteria.codec,
                !container.model.dataCodecs.contains(codec)
            else { continue }
            sink.error(
                .containerCodec, "\(container.name) can't store \(codec)", at: entry.range,
                notes: [Diagnostic.Note("the container is determined here", at: located.range)],
                help: "supported data codecs: \(container.model.dataCodecs.joined(separator: ", "))")
        }
    }

    /// Returns the reason why the muxer can't write a tag under its key, with help; nil if it can.
    private static func problem(
        withTag name: String, in container: ContainerType
    ) -> (message: String, help: String?)? {
        if coverKeys.contains(name) {
            return (
                "`\(name)` would write a text tag, not a cover",
                "`metadata: { cover: art.jpg }` of the job sets a cover from an image file; `keep` determines whether covers of the source are kept"
            )
        }
        if container.model.muxerKeys.contains(name) {
            return ("the tag `\(name)` can't be set: it is reserved for the muxer of \(container.name)", nil)
        }
        if name == "description", container.model.sharedKeys.contains(name) {
            return ("\(container.name) stores the tag `description` as `comment`", "use `comment`")
        }
        return nil
    }

    /// Checks the language, title, dispositions and tags that a rule sets.
    private static func checkTags(
        of rule: TrackRule, in located: Located<ContainerType>, into sink: inout DiagnosticSink
    ) {
        let (container, type) = (located.value, rule.mediaType)
        let notes = [Diagnostic.Note("the container is determined here", at: located.range)]
        if let language = rule.language,
            LanguageCode.written(language.value, of: type, in: container) == nil
        {
            sink.error(
                .containerSetting,
                "\(container.name) can't store the language `\(language.value)` of \(type.rawValue)",
                at: language.range, notes: notes,
                help: container.hasLanguage(of: type) ? "use a three-letter code without a region" : nil)
        }
        if let title = rule.title, !container.model.hasTrackTitles {
            sink.error(
                .containerSetting, "\(container.name) can't store track titles", at: title.range, notes: notes
            )
        }
        if let disposition = rule.disposition {
            let possible = container.dispositions(of: type)
            let impossible = disposition.value.filter { !possible.contains($0) }
            if !impossible.isEmpty {
                sink.error(
                    .containerSetting,
                    "\(container.name) can't store the \(type.rawValue) disposition \(impossible.joined(separator: ", "))",
                    at: disposition.range, notes: notes,
                    help: possible.isEmpty
                        ? nil : "supported: \(possible.sorted().map { "`\($0)`" }.joined(separator: ", "))")
            }
        }
        if container.model.hasTrackTags, rule.metadata.count > container.model.maxTags {
            sink.error(
                .containerSetting,
                "\(container.name) stores at most \(container.model.maxTags) tags per track; `metadata` has \(rule.metadata.count)",
                at: rule.metadata[container.model.maxTags].key.range, notes: notes)
        }
        for (key, _) in rule.metadata {
            let name = key.value.lowercased()
            // `TimecodePlanner` checks timecodes. In QuickTime and MP4, a timecode is a separate track.
            if MetadataEntry.isTimecode(name) { continue }
            let property = name == "handler_name" ? "title" : name
            if !container.model.hasTrackTags {
                sink.error(
                    .containerSetting, "\(container.name) can't store tags of tracks", at: key.range,
                    notes: notes,
                    help: ["title", "language"].contains(property)
                        ? "`\(property)` is a key of the rule, beside `metadata`" : nil)
            } else if name == "handler_name" {
                sink.error(
                    .containerSetting, "\(container.name) has no `handler_name`", at: key.range, notes: notes,
                    help: "use `title` of the rule")
            } else if container.model.trackMuxerKeys.contains(name) {
                sink.error(
                    .containerSetting,
                    "the tag `\(name)` of a track can't be set: it is reserved for the muxer of \(container.name)",
                    at: key.range, notes: notes)
            } else if let problem = problem(withTag: name, in: container) {
                sink.error(
                    .containerSetting, problem.message, at: key.range, notes: notes, help: problem.help)
            }
        }
    }

    private static func check(
        cover: Located<String>, of output: OutputSpec, in located: Located<ContainerType>,
        into sink: inout DiagnosticSink
    ) {
        let container = located.value
        guard container.supportsCoverImages else {
            sink.error(
                .containerSetting, "\(container.name) can't store a cover", at: cover.range,
                notes: [Diagnostic.Note("the container is determined here", at: located.range)],
                help: "use \(ContainerType.namesWithCoverImages.joined(separator: ", "))")
            return
        }
        guard let fragment = output.media?.fragmentInterval else { return }
        sink.error(
            .containerSetting, "\(container.name) can't store a cover in fragments", at: cover.range,
            notes: [Diagnostic.Note("`fragment` is here", at: fragment.range)])
    }

    /// Checks the codec of a rule, and settings that depend on it. `segments` is the container of a package's segments.
    private static func check(
        _ action: TrackRule.Action, of type: MediaType, in located: Located<ContainerType>,
        segments: SegmentContainer?, into sink: inout DiagnosticSink
    ) {
        let (name, libavName, range): (String, String, SourceRange)
        switch action {
        case .copy(_, let otherwise):
            if let otherwise {
                check(otherwise, of: type, in: located, segments: segments, into: &sink)
            }
            return
        case .encodeVideo(let spec):
            (name, libavName, range) = (spec.codec.value.name, spec.codec.value.libavName, spec.codec.range)
            if spec.codec.value.frames.writesSeparateAlpha, let format = spec.pixelFormat,
                format.value.hasAlpha,
                located.value.canHold(codec: libavName), !located.value.model.supportsSeparateAlpha
            {
                sink.error(
                    .containerSetting, "\(located.value.name) can't store the alpha plane of \(name)",
                    at: format.range,
                    notes: [Diagnostic.Note("the container is determined here", at: located.range)],
                    help: "use mkv or webm")
            }
        case .encodeAudio(let spec):
            if let target = spec.normalize, target.value.target.writesTags,
                !located.value.model.supportsLoudnessTags
            {
                sink.error(
                    .containerSetting, "\(located.value.name) can't store loudness tags", at: target.range,
                    notes: [Diagnostic.Note("the container is determined here", at: located.range)],
                    help: "use mp3, flac, ogg, mkv or webm")
            }
            (name, libavName, range) = (spec.codec.value.name, spec.codec.value.libavName, spec.codec.range)
        case .encodeSubtitle(let spec):
            let codec = spec.codec.value
            (name, libavName, range) = (codec.rawValue, codec.libavName, spec.codec.range)
        }
        let container = located.value
        if segments == .ts {
            checkTransportStream(codec: (name, libavName), at: range, of: type, in: located, into: &sink)
            return
        }
        guard !container.canHold(codec: libavName) else { return }
        let fitting =
            type == .subtitle
            ? SubtitleCodec.allCases.filter { container.canHold(codec: $0.libavName) }.map(\.rawValue)
            : CodecCatalog.names(of: type).filter {
                CodecCatalog.codec($0, of: type).map { container.canHold(codec: $0.libavName) } ?? false
            }
        sink.error(
            .containerCodec, "\(container.name) can't store \(name)", at: range,
            notes: [Diagnostic.Note("the container is determined here", at: located.range)],
            help: fitting.isEmpty ? nil : "supported codecs: \(fitting.joined(separator: ", "))")
    }

    /// Reports a codec that HLS doesn't support in transport streams.
    private static func checkTransportStream(
        codec: (name: String, libavName: String), at range: SourceRange, of type: MediaType,
        in located: Located<ContainerType>, into sink: inout DiagnosticSink
    ) {
        guard !SegmentContainer.ts.supports(codec: codec.libavName) else { return }
        let fitting = CodecCatalog.names(of: type).filter {
            CodecCatalog.codec($0, of: type).map { SegmentContainer.ts.supports(codec: $0.libavName) }
                ?? false
        }
        sink.error(
            .containerCodec, "HLS doesn't support \(codec.name) in MPEG transport streams", at: range,
            notes: [Diagnostic.Note("the container is determined here", at: located.range)],
            help: "use \(fitting.joined(separator: ", ")), or `container: mp4` of the package")
    }
}
