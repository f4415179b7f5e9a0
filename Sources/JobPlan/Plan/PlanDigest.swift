internal import BinaryCoding
internal import Diagnostics
internal import JobSpec
internal import Media
package import LibAV
internal import FileSystem

/// Tells whether an output would be made as it was made before: what is done, of which source, with which libraries.
///
/// Where something was written in a job file, why, and how a run treats the job are no part of it. What is expected of
/// the output doesn't change it either, and is known apart: an output that is there can be judged. So is what becomes
/// of damaged data, which matters where there was damage alone.
package struct PlanDigest: Codable, Hashable, Sendable {
    /// One line a thing, for telling what changed. Sorted as they were noted.
    package var parts: [MetadataEntry]
    /// Everything else that the output depends on, down to each number; nil where an earlier version kept none.
    package var details: [MetadataEntry]?
    /// What is expected of the output, a line each.
    package var expected: [String]?
    /// SHA-256 of all parts and details; of the expectations, where there are any, behind `+`. `~` stands between where
    /// damaged data were left out.
    package var value: String
    private var skipsDamage: Bool?

    /// How what was made before stands to a plan.
    package enum Standing: Sendable {
        /// It is what the plan asks for.
        case current
        /// It is what the plan makes; what is expected of it wasn't judged.
        case unjudged
        /// It is something else.
        case other
    }

    /// Of a plan whose source exists. `content` is the digest of the source's bytes, where it goes by those.
    package init(_ task: OutputTask, content: String? = nil, programs: [MetadataEntry] = PlanDigest.programs)
        throws
    {
        let parts = Self.told(of: task, content: content, programs: programs)
        let details = try PlanDetails.of(Self.essence(of: task, isByContent: content != nil))
        self.parts = parts
        self.details = details
        let checks = try task.output.expectations.map {
            "\($0.check.text) \(try PlanDetails.line(of: $0.check))"
        }
        expected = task.output.expectations.map(\.check.text)
        skipsDamage = task.input.damagePolicy == .skip
        var hasher = SHA256Hasher()
        for part in parts + details { hasher.update("\(part.key)\0\(part.value)\n") }
        value = hasher.finish()
        if !checks.isEmpty { value += "+" + ContentDigest.of(checks.joined(separator: "\n").utf8) }
    }

    /// The same once it was carried out, and damaged data were left out.
    package var afterDamage: PlanDigest {
        var digest = self
        digest.value = Self.made(value) + "~" + value.dropFirst(Self.made(value).count)
        return digest
    }

    /// How an output stands to the plan, by the digest that was kept of it.
    package func standing(of kept: String) -> Standing {
        let isDamaged = kept.contains("~")
        guard Self.made(kept) == Self.made(value), !isDamaged || skipsDamage == true else { return .other }
        let judged = value.split(separator: "+").dropFirst().first
        return judged == nil || judged == kept.split(separator: "+").dropFirst().first ? .current : .unjudged
    }

    private static func made(_ value: String) -> Substring { value.prefix { $0 != "~" && $0 != "+" } }

    /// What changed from an earlier one to this, one line a thing.
    package func changes(since before: PlanDigest) -> [String] {
        var told = PartChanges(from: before.parts, to: parts)
        if Self.made(value) == Self.made(before.value) {
            return standing(of: before.value) == .other
                ? ["damaged data were left out, and `on_damage: skip` isn't said any more"]
                : expectationChanges(since: before)
        }
        guard let old = before.details, let new = details else {
            return told.isEmpty ? ["an earlier version of Tandem made it"] : told.lines
        }
        // What follows from what is told needs no telling.
        let isSource = told.names.contains { $0.hasPrefix("source") }
        let tracks = told.names.compactMap { name in
            name.hasPrefix("track ") ? name.split(separator: " ").prefix(2).joined(separator: " ") : nil
        }
        let isRange = told.names.contains("range")
        let changes = PartChanges(from: old, to: new)
        func isForetold(_ name: String) -> Bool { name.hasPrefix("expected ") || name.contains(" expected ") }
        told.add(changes) { name in
            if isForetold(name) || isRange && name.hasPrefix("range ") { return false }
            if isSource, name.hasPrefix("source") || name.contains(" source ") { return false }
            return !tracks.contains { track in
                ["video", "audio", "encoder"].contains { name.hasPrefix("\(track) \($0) ") }
            }
        }
        if told.isEmpty { told.add(changes, where: isForetold) }
        return told.lines + expectationChanges(since: before)
    }

    /// What is expected now and wasn't judged, one line a thing.
    package func expectationChanges(since before: PlanDigest) -> [String] {
        let (old, new) = (before.expected ?? [], expected ?? [])
        return new.filter { !old.contains($0) }.map { "expectation \($0) is new" }
            + old.filter { !new.contains($0) }.map { "expectation \($0) is gone" }
    }

    /// The program and FFmpeg's libraries.
    package static let programs: [MetadataEntry] =
        [MetadataEntry(key: "tandem", value: ProgramVersion.current)] + LibraryVersions.all

    private static func told(
        of task: OutputTask, content: String?, programs: [MetadataEntry]
    ) -> [MetadataEntry] {
        let (input, plan) = (task.input, task.output)
        var parts = programs
        parts += EncoderLibraries.used(by: plan)
        switch input.source {
        case .file(let path, let identity):
            // Where its bytes count, it doesn't matter where they lie.
            if content == nil { parts.append(MetadataEntry(key: "source", value: path)) }
            parts += Self.parts(of: identity, content: content, keepsTimes: plan.keepsFileTimes)
        case .pattern(let pattern):
            parts.append(MetadataEntry(key: "source", value: "test signal \(pattern.name)"))
        case .images(let sequence, let identity):
            parts.append(MetadataEntry(key: "source", value: content == nil ? sequence.path : "images"))
            parts.append(MetadataEntry(key: "source images", value: "\(sequence.files.count)"))
            parts.append(MetadataEntry(key: "source files", value: content ?? identity))
        case .composition(let composition, let identities):
            parts.append(MetadataEntry(key: "source", value: "composition"))
            parts += composition.digest(identities: content == nil ? identities : nil)
            if let content { parts.append(MetadataEntry(key: "source files", value: content)) }
        case .job(let id, _): parts.append(MetadataEntry(key: "source", value: "job \(id)"))
        }
        parts.append(MetadataEntry(key: "container", value: plan.container))
        let stretches = input.extent.ranges.map { "\($0.start) s to \($0.end) s" }
        parts.append(
            MetadataEntry(key: "range", value: stretches.isEmpty ? "all" : stretches.joined(separator: ", ")))
        if let images = plan.images {
            let times = images.stills.map { "\($0.time)" }
            parts.append(MetadataEntry(key: "stills", value: times.joined(separator: ", ") + " s"))
        }
        for (index, track) in plan.tracks.enumerated() {
            let name = "track \(index)"
            switch track.action {
            case .copy: parts.append(MetadataEntry(key: name, value: "copied from \(track.source.index)"))
            case .smartCut:
                parts.append(MetadataEntry(key: name, value: "cut smartly from \(track.source.index)"))
            case .subtitle(let codec): parts.append(MetadataEntry(key: name, value: "as \(codec)"))
            case .encode(let encoding):
                parts.append(
                    MetadataEntry(key: name, value: "\(encoding.encoder.encoder) from \(track.source.index)"))
                for setting in encoding.settings {
                    parts.append(MetadataEntry(key: "\(name) \(setting.key)", value: setting.value))
                }
            }
        }
        for entry in plan.metadata.sorted(by: { $0.key < $1.key }) {
            parts.append(MetadataEntry(key: "tag \(entry.key)", value: entry.value))
        }
        return parts
    }

    private static func parts(of identity: FileIdentity, content: String?, keepsTimes: Bool)
        -> [MetadataEntry]
    {
        let time = MetadataEntry(
            key: "source time", value: "\(identity.modified).\(identity.modifiedNanoseconds)")
        if let content {
            return [
                MetadataEntry(key: "source size", value: "\(identity.size)"),
                MetadataEntry(key: "source content", value: content),
            ] + (keepsTimes ? [time] : [])
        }
        return [
            MetadataEntry(key: "source size", value: "\(identity.size)"),
            time, MetadataEntry(key: "source inode", value: "\(identity.inode)"),
        ]
    }

    /// The task without what doesn't reach the output, and without what is told of it already.
    private static func essence(of task: OutputTask, isByContent: Bool) -> OutputTask {
        var task = task
        (task.job, task.file) = ("", "")
        task.input = essence(of: task.input, isByContent: isByContent)
        task.output = essence(of: task.output)
        return task
    }

    private static func essence(of input: InputPlan, isByContent: Bool) -> InputPlan {
        var input = input
        input.damagePolicy = .fail
        input.sourceDescription.tracks = []
        input.sourceDescription.metadata = []
        input.sourceDescription.chapters = []
        switch input.source {
        case .file(let path, _): input.source = .job(id: "", path: isByContent ? "" : path)
        case .images(var sequence, _):
            if isByContent { sequence.path = "" }
            input.source = .images(sequence, identity: "")
        case .composition(var composition, _):
            if isByContent { composition.forgetPaths() }
            input.source = .composition(composition, identities: [])
        case .pattern, .job: break
        }
        return input
    }

    private static func essence(of output: OutputPlan) -> OutputPlan {
        var output = output
        // Where the output goes, its own mark and the memory tell.
        (output.id, output.input, output.destination) = (nil, 0, "")
        if case .images(var images) = output.kind {
            for index in images.stills.indices { images.stills[index].destination = nil }
            if images.sheet?.index != nil { images.sheet?.index = "" }
            output.kind = .images(images)
        }
        for index in output.tracks.indices {
            (output.tracks[index].askedTags, output.tracks[index].unforetold) = ([], nil)
            // What a setting is counts, not who said it.
            guard case .encode(var encoding) = output.tracks[index].action else { continue }
            (encoding.settings, encoding.askedColor) = ([], [])
            output.tracks[index].action = .encode(encoding)
        }
        (output.metadata, output.askedTags) = ([], [])
        output.expectations = []
        output.ledger = []
        output.notes = []
        output.ifExists = .fail
        output.makesDirectories = true
        output.expectedSize = nil
        return output
    }
}

/// The libraries behind FFmpeg's encoders, whose versions FFmpeg itself doesn't tell.
package enum EncoderLibraries {
    /// All shared libraries of this process, by the names of their files.
    package static let loaded: [String] = LoadedLibraries.names

    /// Those that an output's encoders stand on, by the names of their files: `libx264.so.164`.
    package static func used(by plan: OutputPlan) -> [MetadataEntry] {
        let names = Set(
            plan.tracks.compactMap { track -> String? in
                if case .encode(let encoding) = track.action { encoding.encoder.encoder } else { nil }
            })
        return names.sorted().compactMap { name in
            // The file of an encoder that isn't listed is named like the encoder.
            guard let stem = EncoderModel.of(name).library ?? (name.hasPrefix("lib") ? name : nil),
                let file = loaded.first(where: { $0.lowercased().hasPrefix(stem.lowercased()) })
            else { return nil }
            return MetadataEntry(key: "encoder \(name)", value: file)
        }
    }
}
