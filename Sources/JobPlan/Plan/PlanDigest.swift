internal import BinaryCoding
internal import Diagnostics
internal import JobSpec
internal import Media
package import LibAV
internal import FileSystem

/// The digest of everything that determines an output: actions and settings, sources and libraries. Two equal digests
/// mean that the same output would be created again.
///
/// Locations in the job file, origins of settings, predictions and scheduling are not included. Expectations have a separate digest,
/// because they don't change the output, and an existing output can be evaluated. The handling of damaged data is not
/// included either, because it matters only if data was damaged.
package struct PlanDigest: Codable, Hashable, Sendable {
    /// Versions of the program and the libraries, and the main values, a line each, for descriptions of changes.
    package var parts: [MetadataEntry]
    /// The recipe of the output, a line for each value; nil in digests of an early version.
    package var details: [MetadataEntry]?
    /// The expectations, a line each.
    package var expected: [String]?
    /// The digest of versions, details and expectations.
    package var value: DigestValue
    private var skipsDamage: Bool?
    /// Version of the names in `details`; nil in digests from before there was one.
    private var layout: Int? = Self.layout

    /// Current version of the names in `details`. Names of different versions can't be compared.
    private static let layout = 2

    /// The relation of an existing output to a plan.
    package enum Relation: Sendable {
        /// The output is the one that the plan creates, and its expectations were evaluated.
        case current
        /// The output is the one that the plan creates, but the plan's expectations weren't evaluated.
        case unevaluated
        /// The output differs from the one that the plan creates.
        case other
    }

    /// Computes the digest of a plan whose source exists. `content` is the digest of the source's bytes, if
    /// sources are identified by content.
    package init(_ task: OutputTask, content: String? = nil, programs: [MetadataEntry] = PlanDigest.programs)
        throws
    {
        let identification = SourceIdentification(
            content: content, keepsTimes: task.output.media?.keepsFileTimes == true)
        let programs = programs + EncoderLibraries.used(by: task.output)
        let details = try PlanDetails.of(task, by: identification)
        parts = programs + Self.descriptions(of: task, by: identification)
        self.details = details
        let checks = try task.output.allExpectations.map {
            "\($0.check.text) \(try PlanDetails.line(of: $0.check))"
        }
        expected = task.output.allExpectations.map(\.check.text)
        skipsDamage = task.input.damagePolicy == .skip
        var hasher = SHA256Hasher()
        for line in programs + details { hasher.update("\(line.key)\0\(line.value)\n") }
        value = DigestValue(
            recipe: hasher.finish(),
            expectations: checks.isEmpty ? nil : ContentDigest.of(checks.joined(separator: "\n").utf8))
    }

    /// The digest of an output that was created with damaged data skipped.
    package var afterDamage: PlanDigest {
        var digest = self
        digest.value.skippedDamage = true
        return digest
    }

    /// Returns the relation to the plan of an existing output, given the recorded value of its digest.
    package func relation(to recorded: DigestValue) -> Relation {
        guard recorded.recipe == value.recipe, !recorded.skippedDamage || skipsDamage == true else {
            return .other
        }
        return value.expectations == nil || value.expectations == recorded.expectations
            ? .current : .unevaluated
    }

    /// Returns the changes from an earlier digest to this one, a line each.
    package func changes(since before: PlanDigest) -> [String] {
        if value.recipe == before.value.recipe {
            return relation(to: before.value) == .other
                ? ["damaged data was skipped, and `on_damage: skip` was removed"]
                : expectationChanges(since: before)
        }
        let changes = valueChanges(since: before).lines
        let lines = changes + (isComparable(with: before) ? expectationChanges(since: before) : [])
        // An earlier version computed the digest of the same values in another way.
        return lines.isEmpty ? ["the output was created by an earlier version of Tandem"] : lines
    }

    /// Returns whether an earlier digest has details with the same names.
    private func isComparable(with before: PlanDigest) -> Bool {
        before.details != nil && details != nil && before.layout == layout
    }

    /// Returns the values of the recipe that changed since an earlier digest. Changes that follow from others are omitted.
    func valueChanges(since before: PlanDigest) -> PartChanges {
        var listed = PartChanges(from: before.parts, to: parts)
        guard isComparable(with: before) else { return listed }
        let isSource = listed.names.contains(where: \.identifiesSource)
        let tracks = listed.names.compactMap(\.track)
        let isRange = listed.names.contains(where: \.isRange)
        let isCover = listed.names.contains(where: \.isCover)
        listed.add(PartChanges(from: before.details ?? [], to: details ?? [])) { name in
            if isRange && name.isBoundOfRange || isCover && name.isOfCover { return false }
            if isSource, name.describesSource { return false }
            return !tracks.contains { name.isSetting(of: $0) }
        }
        return listed
    }

    /// Returns the expectations that are new or were removed since an earlier digest, a line each.
    package func expectationChanges(since before: PlanDigest) -> [String] {
        let (old, new) = (before.expected ?? [], expected ?? [])
        return new.filter { !old.contains($0) }.map { "added expectation: \($0)" }
            + old.filter { !new.contains($0) }.map { "removed expectation: \($0)" }
    }

    /// Versions of the program and of FFmpeg's libraries.
    package static let programs: [MetadataEntry] =
        [MetadataEntry(key: "tandem", value: ProgramVersion.current)] + LibraryVersions.all

    /// Returns descriptions of the source, the range, the tracks and the kind. The digest depends on the values that they
    /// describe, not on these texts.
    private static func descriptions(
        of task: OutputTask, by identification: SourceIdentification
    ) -> [MetadataEntry] {
        descriptions(of: task.input.source, by: identification) + descriptions(of: task.input, task.output)
            + task.output.kind.plan.changeDescriptions
    }

    private static func descriptions(
        of source: InputPlan.Source, by identification: SourceIdentification
    ) -> [MetadataEntry] {
        let content = identification.content
        func part(_ key: String, _ value: String) -> MetadataEntry { MetadataEntry(key: key, value: value) }
        switch source {
        case .file(let path, let identity):
            let (size, time) = (part("source size", "\(identity.size)"), part("source time", identity.time))
            guard let content else {
                return [part("source", path), size, time, part("source inode", "\(identity.inode)")]
            }
            return [size, part("source content", content)] + (identification.keepsTimes ? [time] : [])
        case .pattern(let pattern): return [part("source", "test signal \(pattern.name)")]
        case .images(let sequence, let identity):
            return [
                part("source", content == nil ? sequence.path : "images"),
                part("source images", "\(sequence.files.count)"),
                part("source files", content ?? identity),
            ]
        case .composition(let composition, let identities):
            return [part("source", "composition")]
                + composition.descriptions(identities: content == nil ? identities : nil)
                + (content.map { [part("source files", $0)] } ?? [])
        case .job(let id, _): return [part("source", "job \(id)")]
        }
    }

    /// Returns texts that describe the range and the tracks, such as `track 0 crf`.
    private static func descriptions(of input: InputPlan, _ plan: OutputPlan) -> [MetadataEntry] {
        let ranges = input.extent.ranges.map { "\($0.start) s to \($0.end) s" }
        var parts = [
            MetadataEntry(key: "container", value: plan.container),
            MetadataEntry(key: "range", value: ranges.isEmpty ? "all" : ranges.joined(separator: ", ")),
        ]
        for (name, track) in namedTracks(of: plan) {
            switch track.action {
            case .copy: parts.append(MetadataEntry(key: name, value: "copied from \(track.source.index)"))
            case .smartCut:
                parts.append(MetadataEntry(key: name, value: "cut smartly from \(track.source.index)"))
            case .subtitle(let codec): parts.append(MetadataEntry(key: name, value: "as \(codec)"))
            case .read(let decodes):
                let how = decodes ? "decoded" : "packets read"
                parts.append(MetadataEntry(key: name, value: "\(track.source.index), \(how)"))
            case .encode(let encoding):
                parts.append(
                    MetadataEntry(key: name, value: "\(encoding.encoder.encoder) from \(track.source.index)"))
                for setting in encoding.settings {
                    parts.append(MetadataEntry(key: "\(name) \(setting.key)", value: setting.value))
                }
            }
        }
        return parts
    }

    /// Returns the tracks of an output with their names in digests.
    private static func namedTracks(of plan: OutputPlan) -> [(name: String, track: TrackPlan)] {
        guard let outputs = plan.kind.plan.writtenOutputs else {
            return plan.tracks.enumerated().map { ("track \($0)", $1) }
        }
        return outputs.flatMap { output in output.tracks.map { ("rendition \(output.id ?? "")", $0) } }
    }
}

/// The libraries that FFmpeg's encoders are built on, whose versions FFmpeg doesn't report.
package enum EncoderLibraries {
    /// File names of all shared libraries of this process.
    package static let loaded: [String] = LoadedLibraries.names

    /// Returns the libraries of an output's encoders by their file names, such as `libx264.so.164`.
    package static func used(by plan: OutputPlan) -> [MetadataEntry] {
        let names = Set(
            plan.allTracks.compactMap { track -> String? in
                if case .encode(let encoding) = track.action { encoding.encoder.encoder } else { nil }
            })
        return names.sorted().compactMap { name in
            // Without `library`, a library has the same name as its encoder.
            guard let stem = EncoderModel.named(name)?.library ?? (name.hasPrefix("lib") ? name : nil),
                let file = loaded.first(where: { $0.lowercased().hasPrefix(stem.lowercased()) })
            else { return nil }
            return MetadataEntry(key: "encoder \(name)", value: file)
        }
    }
}
