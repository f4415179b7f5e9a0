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
    /// Versions of the program and the libraries, and the main values in words, for messages about changes; empty in
    /// digests of another layout.
    package var parts: [PlanPart]
    /// All values of the recipe; nil in digests of another layout.
    package var details: [RecipeValue]?
    /// The expectations, a line each.
    package var expected: [String]?
    /// The digest of versions, details and expectations.
    package var value: DigestValue
    private var skipsDamage: Bool?
    /// Version of the names in `parts` and `details`; nil in digests from before there was one.
    private var layout: Int? = Self.layout

    /// Current version of the names in `parts` and `details`. Names of different versions can't be compared.
    private static let layout = 3

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
        let libraries = EncoderLibraries.used(by: task.output)
        let details = try RecipeValue.all(of: task, by: identification)
        parts =
            programs.map { PlanPart(.program($0.key), $0.value) }
            + libraries.map { PlanPart(.encoder($0.key), $0.value) }
            + Self.descriptions(of: task, by: identification)
        self.details = details
        let checks = try task.output.allExpectations.map { try RecipeValue.lines(of: $0.check) }
        expected = task.output.allExpectations.map(\.check.text)
        skipsDamage = task.input.damagePolicy == .skip
        var hasher = SHA256Hasher()
        for program in programs + libraries { hasher.update("\(program.key)\0\(program.value)\n") }
        for detail in details { hasher.update(detail.line) }
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
        guard isComparable(with: before) else {
            return ["the output was created by an earlier version of Tandem"]
        }
        let changes = valueChanges(since: before)
        let lines = changes.parts.lines + changes.values.lines + expectationChanges(since: before)
        // An earlier version computed the digest of the same values in another way.
        return lines.isEmpty ? ["the output was created by an earlier version of Tandem"] : lines
    }

    /// Returns whether an earlier digest has details with the same names.
    private func isComparable(with before: PlanDigest) -> Bool {
        before.details != nil && details != nil && before.layout == layout
    }

    /// Returns the main values and the values of the recipe that changed since an earlier digest with the same layout.
    /// Changes that follow from others are omitted.
    func valueChanges(
        since before: PlanDigest
    ) -> (parts: PartChanges<PlanPart.Name>, values: PartChanges<RecipeName>) {
        let described = PartChanges(from: before.parts, to: parts)
        let values = PartChanges(from: before.details ?? [], to: details ?? [])
        return (
            described,
            values.filter(without: described.values) { !Self.follows($0.subject, from: described.names) }
        )
    }

    /// Returns whether a change of a value follows from changes of parts.
    private static func follows(_ subject: RecipeName.Subject, from parts: [PlanPart.Name]) -> Bool {
        switch subject {
        case .source, .track(_, .source), .rendition(.source): parts.contains(where: \.identifiesSource)
        case .range: parts.contains(.range)
        case .cover: parts.contains(.cover)
        case .track(let index, .setting): parts.contains { $0.track == index }
        case .track(_, .other), .rendition(.setting), .rendition(.other), .other: false
        }
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
    ) -> [PlanPart] {
        descriptions(of: task.input.source, by: identification)
            + (task.input.package.map { package in
                [PlanPart(.source(.files), identification.content ?? package.identity)]
            } ?? []) + descriptions(of: task.input, task.output)
            + task.output.kind.plan.changeDescriptions
    }

    private static func descriptions(
        of source: InputPlan.Source, by identification: SourceIdentification
    ) -> [PlanPart] {
        let content = identification.content
        func part(_ property: PlanPart.SourceProperty, _ value: String) -> PlanPart {
            PlanPart(.source(property), value)
        }
        switch source {
        case .file(let path, let identity):
            let (size, time) = (part(.size, "\(identity.size)"), part(.time, identity.time))
            guard let content else {
                return [part(.name, path), size, time, part(.inode, "\(identity.inode)")]
            }
            return [size, part(.content, content)] + (identification.keepsTimes ? [time] : [])
        case .pattern(let pattern): return [part(.name, "test signal \(pattern.name)")]
        case .images(let sequence, let identity):
            return [
                part(.name, content == nil ? sequence.path : "images"),
                part(.images, "\(sequence.files.count)"),
                part(.files, content ?? identity),
            ]
        case .composition(let composition, let identities):
            return [part(.name, "composition")]
                + composition.descriptions(identities: content == nil ? identities : nil)
                + (content.map { [part(.files, $0)] } ?? [])
        case .job(let id, _): return [part(.name, "job \(id)")]
        }
    }

    /// Returns texts that describe the range and the tracks, such as `track 0 crf`.
    private static func descriptions(of input: InputPlan, _ plan: OutputPlan) -> [PlanPart] {
        let ranges = input.extent.ranges.map { "\($0.start) s to \($0.end) s" }
        var parts = [
            PlanPart(.container, plan.container),
            PlanPart(.range, ranges.isEmpty ? "all" : ranges.joined(separator: ", ")),
        ]
        for (name, track) in namedTracks(of: plan) {
            let source = track.source.index
            for file in track.addedFiles {
                parts.append(PlanPart(.setting(name, key: "file"), file.changeDescription))
            }
            switch track.action {
            case .smartCut: parts.append(PlanPart(.track(name), "cut smartly from \(source)"))
            case .copy:
                parts.append(PlanPart(.track(name), track.file == nil ? "copied from \(source)" : "copied"))
            case .subtitle(let codec): parts.append(PlanPart(.track(name), "as \(codec)"))
            case .read(let decodes):
                parts.append(PlanPart(.track(name), "\(source), \(decodes ? "decoded" : "packets read")"))
            case .encode(let encoding):
                parts.append(PlanPart(.track(name), "\(encoding.encoder.encoder) from \(source)"))
                for setting in encoding.settings {
                    parts.append(PlanPart(.setting(name, key: setting.key), setting.value))
                }
            }
        }
        return parts
    }

    /// Returns the tracks of an output with their names in digests.
    private static func namedTracks(of plan: OutputPlan) -> [(name: PlanPart.Track, track: TrackPlan)] {
        guard let outputs = plan.kind.plan.writtenOutputs else {
            return plan.tracks.enumerated().map { (.index($0), $1) }
        }
        return outputs.flatMap { output in output.tracks.map { (.rendition(output.id ?? ""), $0) } }
    }
}

extension PlanDigest {
    /// Decodes a recorded digest (`Decodable`). The names of another layout are omitted.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        layout = try values.decodeIfPresent(Int.self, forKey: .layout)
        let isCurrent = layout == Self.layout
        parts = isCurrent ? try values.decode([PlanPart].self, forKey: .parts) : []
        details = isCurrent ? try values.decodeIfPresent([RecipeValue].self, forKey: .details) : nil
        expected = try values.decodeIfPresent([String].self, forKey: .expected)
        value = try values.decode(DigestValue.self, forKey: .value)
        skipsDamage = try values.decodeIfPresent(Bool.self, forKey: .skipsDamage)
    }
}

/// The libraries that FFmpeg's encoders are built on, whose versions FFmpeg doesn't report.
package enum EncoderLibraries {
    /// File names of all shared libraries of this process.
    package static let loaded: [String] = LoadedLibraries.names

    /// Returns the names of an output's encoders with the files of their libraries, such as `libx264.so.164`.
    package static func used(by plan: OutputPlan) -> [MetadataEntry] {
        let names = Set(
            plan.allTracks.compactMap { track -> String? in
                if case .encode(let encoding) = track.action { encoding.encoder.encoder } else { nil }
            })
        return names.sorted().compactMap { name in
            library(of: name).map { MetadataEntry(key: name, value: $0) }
        }
    }

    /// Returns the file of an encoder's library; nil if it has none.
    static func library(of encoder: String) -> String? {
        // Without `library`, a library has the same name as its encoder.
        let stem = EncoderModel.named(encoder)?.library ?? (encoder.hasPrefix("lib") ? encoder : nil)
        return stem.flatMap { stem in
            loaded.first { $0.lowercased().hasPrefix(stem.lowercased()) }
        }
    }
}
