internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of an output's tags: selects those copied from the source, and adds those that the job sets.
struct MetadataPlanner {
    let spec: MetadataSpec
    let container: ContainerType
    let source: [MetadataEntry]
    /// Whether the job changes the levels of the audio, which makes the source's loudness tags wrong.
    let changesLevels: Bool

    /// Tags that describe the source's file, not its content.
    private static let technical = technicalTags.union(["com.android.version"])

    /// Technical tags of files and tracks.
    static let technicalTags: Set<String> = [
        "major_brand", "minor_version", "compatible_brands", "encoder", "duration",
    ]

    /// Keys of the recording location. QuickTime has several; libavformat writes one.
    private static let locationKeys = ["location", "com.apple.quicktime.location.iso6709"]

    /// Returns the key under which a source's tag is written.
    private func name(of key: String) -> String {
        guard key.lowercased() == Self.locationKeys[1] else { return key }
        return source.contains { $0.key.lowercased() == Self.locationKeys[0] } ? key : Self.locationKeys[0]
    }

    /// Returns the output's tags; nil after an error.
    func decide() -> Decision<[MetadataEntry]> {
        var entries: [MetadataEntry] = []
        var reasons = Reasons()
        // `TimecodePlanner` adds the entry of a timecode.
        let tags = source.filter { !$0.isTimecode }
        if spec.set.count > container.model.maxTags {
            reasons.error(
                .containerSetting,
                "\(container.name) stores at most \(container.model.maxTags) tags; `set` has \(spec.set.count)",
                at: spec.set[container.model.maxTags].key.range)
            return Decision(nil, reasons)
        }
        let set = Set(spec.set.map(\.key.value))
        var dropped: [(key: String, problem: String)] = []
        for entry in tags {
            if let problem = problem(with: entry, set: set) {
                dropped.append((entry.key, problem))
            } else if entries.count + spec.set.count == container.model.maxTags {
                dropped.append((entry.key, Self.surplus(in: container)))
            } else {
                entries.append(MetadataEntry(key: name(of: entry.key), value: entry.value))
                reasons.account(for: .tag(entry.key), of: nil, .copied, "kept")
            }
        }
        for (key, problem) in dropped { reasons.account(for: .tag(key), of: nil, .dropped, problem) }
        // A timecode is written as a tag of the video track.
        entries += spec.set.filter { !MetadataEntry.isTimecode($0.key.value) }.map {
            MetadataEntry(key: $0.key.value, value: $0.value)
        }
        return Decision(entries, reasons)
    }

    /// Returns the reason for omitting a tag beyond the container's limit.
    static func surplus(in container: ContainerType) -> String {
        "\(container.name) stores at most \(container.model.maxTags) tags; `metadata: { keep: … }` selects"
    }

    /// Returns the reason for omitting a tag; nil if it is copied. `set` contains the keys that the job sets.
    private func problem(with entry: MetadataEntry, set: Set<String>) -> String? {
        let (key, name) = (entry.key, entry.key.lowercased())
        if set.contains(key) { return "the job sets it" }
        if !spec.keep.contains(key) { return "the job doesn't keep it" }
        if Self.technical.contains(name) { return "describes the source's container" }
        if changesLevels, LoudnessTags.contain(key) { return LoudnessTags.reason }
        if name == "itunsmpb" { return "describes the source's encoder delay and padding" }
        if name.hasPrefix("location-"), source.contains(where: { $0.key == "location" }) {
            return "duplicates `location`"
        }
        if let keys = container.metadataKeys, !keys.contains(self.name(of: key).lowercased()) {
            return "\(container.name) can't store it"
        }
        if name == "creation_time", container.model.treatsZeroTimeAsUnknown,
            entry.value.hasPrefix("1970-01-01T00:00:00")
        {
            return "\(container.name) uses \(entry.value) for an unknown time"
        }
        if name == "creation_time", container.model.parsesCreationTime, CreationTime(entry.value) == nil {
            return "\(container.name) requires a date and time, not `\(entry.value)`"
        }
        if name == "description", container.model.sharedKeys.contains("description"),
            source.contains(where: { $0.key.lowercased() == "comment" })
        {
            return "\(container.name) stores it in the same field as `comment`"
        }
        return nil
    }
}
