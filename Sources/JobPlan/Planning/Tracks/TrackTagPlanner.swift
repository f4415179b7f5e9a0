internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a track's tags. Selects the source tags that are kept, adds the tags that the rule sets, and lists
/// the source's tags in the ledger.
struct TrackTagPlanner {
    let track: TrackDescription
    let rule: TrackRule
    let keep: MetadataSpec.Keep
    let container: Located<ContainerType>
    /// Whether the output's packets have a separate alpha plane, which a tag declares.
    let hasSeparateAlpha: Bool
    /// Whether the output's audio levels differ from the source's.
    let changesLevels: Bool
    /// Whether the track is that of a rendition of a package, whose manifests state the language.
    let isRendition: Bool
    private var entries: [MetadataEntry] = []
    private var reasons = Reasons()
    /// Number of the source's tags that are kept.
    private var kept = 0

    /// The tags and dispositions of the output's track.
    struct Tags {
        let entries: [MetadataEntry]
        /// Keys of the tags that the rule sets, in lower case.
        let requested: [String]
        /// Dispositions of the output's track by libavformat's names.
        let disposition: [String]
    }

    init(
        track: TrackDescription, rule: TrackRule, keep: MetadataSpec.Keep,
        container: Located<ContainerType>, hasSeparateAlpha: Bool, changesLevels: Bool,
        isRendition: Bool = false
    ) {
        self.track = track
        self.rule = rule
        self.keep = keep
        self.container = container
        self.hasSeparateAlpha = hasSeparateAlpha
        self.changesLevels = changesLevels
        self.isRendition = isRendition
    }

    /// Tags that muxers and other programs write about a stream.
    private static let technical = MetadataPlanner.technicalTags.union([
        "vendor_id", "bps", "number_of_frames", "number_of_bytes", "source_id", "rotate", "variant_bitrate",
        "id3v2_priv", "creation_time",
    ])

    /// Returns whether a tag describes the container or the program that wrote it.
    static func isTechnical(_ key: String) -> Bool {
        let name = key.lowercased()
        // The keys of mkvmerge's statistics end with a language.
        let stem = name.split(separator: "-").first.map(String.init) ?? name
        return technical.contains(stem) || name.hasPrefix("_statistics")
    }

    consuming func decide() -> Decision<Tags> {
        let tags = tags()
        return Decision(tags, reasons)
    }

    private mutating func tags() -> Tags {
        let type = container.value
        let language = rule.language?.value ?? track.language
        if let language {
            if let written = LanguageCode.written(language, of: track.mediaType, in: type) {
                entries.append(MetadataEntry(key: "language", value: written))
            } else if !isRendition {
                reasons.note(
                    "the language \(language) of \(track.mediaType.rawValue) track \(track.index) is dropped: \(type.name) can't store it"
                )
            }
        }
        if let title = rule.title?.value ?? track.title, type.model.hasTrackTitles {
            entries.append(MetadataEntry(key: type.model.trackTitleKey, value: title))
        }
        if hasSeparateAlpha { entries.append(.separateAlphaTag) }
        let set = Set(rule.metadata.map { $0.key.value.lowercased() })
        for tag in track.tags { account(for: tag, set: set) }
        let disposition = planDisposition()
        entries += rule.metadata.map { MetadataEntry(key: $0.key.value, value: $0.value) }
        let requested =
            (rule.language == nil ? [] : ["language"])
            + (rule.title == nil ? [] : ["title", "handler_name"])
            + rule.metadata.map { $0.key.value.lowercased() }
        return Tags(entries: entries, requested: requested, disposition: disposition)
    }

    /// Returns the dispositions that the container can represent. `ContainerCheck` rejects others of the rule.
    private mutating func planDisposition() -> [String] {
        let possible = container.value.dispositions(of: track.mediaType)
        if rule.disposition == nil {
            // The loss of `default` is insignificant if there is no other track to play.
            for name in track.disposition where name != "default" && !possible.contains(name) {
                reasons.account(
                    for: .named("disposition \(name)"), of: track.index, .dropped,
                    "\(container.value.name) can't store it")
            }
        }
        // The only track of a file needs no disposition.
        return container.value.model.isSingleTrack
            ? [] : (rule.disposition?.value ?? track.disposition).filter(possible.contains)
    }

    private mutating func account(for tag: MetadataEntry, set: Set<String>) {
        let name = tag.key.lowercased()
        func note(_ outcome: LedgerEntry.Outcome, _ reason: String) {
            reasons.account(for: .tag(tag.key), of: track.index, outcome, reason)
        }
        // The timecode has its own ledger entry.
        if tag.isTimecode { return }
        if set.contains(name) {
            return note(.dropped, "set by the rule")
        }
        switch name {
        case "language":
            if rule.language != nil { return note(.dropped, "set by the rule") }
            guard let written = entries.first(where: { $0.key == "language" })?.value else {
                return note(
                    .dropped,
                    track.language == nil
                        ? "`\(tag.value)`: undetermined" : "\(container.value.name) can't store it")
            }
            return note(.copied, written == tag.value ? "kept" : "as \(written)")
        case "title", "handler_name":
            if rule.title != nil { return note(.dropped, "set by the rule") }
            if !container.value.model.hasTrackTitles {
                return note(.dropped, "\(container.value.name) can't store track titles")
            }
            return tag.value == track.title
                ? note(.copied, "kept") : note(.dropped, "a default name that programs write")
        case "alpha_mode":
            return hasSeparateAlpha
                ? note(.copied, "kept") : note(.dropped, "the output has no separate alpha plane")
        default: break
        }
        if Self.isTechnical(tag.key) { return note(.dropped, "describes the source's container") }
        if changesLevels, LoudnessTags.contain(tag.key) { return note(.dropped, LoudnessTags.reason) }
        guard keep.contains(tag.key) else { return note(.dropped, "the job doesn't keep it") }
        guard container.value.model.hasTrackTags else {
            return note(.dropped, "\(container.value.name) can't store tags of tracks")
        }
        guard kept + rule.metadata.count < container.value.model.maxTags else {
            return note(.dropped, MetadataPlanner.surplus(in: container.value))
        }
        kept += 1
        entries.append(tag)
        note(.copied, "kept")
    }
}
