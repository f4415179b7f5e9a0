internal import BinaryCoding
internal import Diagnostics
internal import JobSpec
internal import Media
public import LibAV

/// Tells whether a job would be done as it was done before: what is done, of which source, with which libraries.
///
/// Where something was written in a job file, why, and how a run treats the job are no part of it.
public struct PlanDigest: Codable, Hashable, Sendable {
    /// One line a thing, for telling what changed. Sorted as they were noted.
    public var parts: [MetadataEntry]
    /// SHA-256 of all of it.
    public var value: String

    /// Of a plan whose source exists. `content` is the digest of the source's bytes, where it goes by those.
    public init(_ plan: JobPlan, content: String? = nil, programs: [MetadataEntry] = PlanDigest.programs)
        throws
    {
        var parts = programs
        parts += EncoderLibraries.used(by: plan)
        switch plan.source {
        case .file(let path, let identity):
            // Where its bytes count, it doesn't matter where they lie.
            if content == nil { parts.append(MetadataEntry(key: "source", value: path)) }
            parts += Self.parts(of: identity, content: content)
        case .pattern(let pattern):
            parts.append(MetadataEntry(key: "source", value: "test signal \(pattern.name)"))
        case .job(let id, _): parts.append(MetadataEntry(key: "source", value: "job \(id)"))
        }
        parts.append(MetadataEntry(key: "container", value: plan.container))
        let stretches = plan.extent.ranges.map { "\($0.start) s to \($0.end) s" }
        parts.append(
            MetadataEntry(key: "range", value: stretches.isEmpty ? "all" : stretches.joined(separator: ", ")))
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
        for entry in plan.metadata {
            parts.append(MetadataEntry(key: "tag \(entry.key)", value: entry.value))
        }
        for (index, expectation) in plan.expectations.enumerated() {
            parts.append(MetadataEntry(key: "expectation \(index + 1)", value: expectation.check.text))
        }
        self.parts = parts
        var hasher = SHA256Hasher()
        for part in parts { hasher.update("\(part.key)\0\(part.value)\n") }
        var encoder = BinaryEncoder()
        encoder.userInfo[.omitsPlaces] = true
        hasher.update(try encoder.encode(Self.essence(of: plan, isByContent: content != nil)))
        value = hasher.finish()
    }

    /// What changed from an earlier one to this, one line a thing; says so where the parts tell nothing.
    public func changes(since before: PlanDigest) -> [String] {
        if value == before.value { return [] }
        let was = Dictionary(before.parts.map { ($0.key, $0.value) }, uniquingKeysWith: { a, _ in a })
        let now = Dictionary(parts.map { ($0.key, $0.value) }, uniquingKeysWith: { a, _ in a })
        var lines: [String] = []
        for part in parts where was[part.key] != part.value {
            lines.append(
                was[part.key].map { "\(part.key): \($0) → \(part.value)" }
                    ?? "\(part.key): \(part.value) is new")
        }
        for part in before.parts where now[part.key] == nil {
            lines.append("\(part.key): \(part.value) is gone")
        }
        return lines.isEmpty ? ["something else about how it is done"] : lines
    }

    /// The program and FFmpeg's libraries.
    public static let programs: [MetadataEntry] =
        [MetadataEntry(key: "tandem", value: ProgramVersion.current)] + LibraryVersions.all

    private static func parts(of identity: FileIdentity, content: String?) -> [MetadataEntry] {
        if let content {
            return [
                MetadataEntry(key: "source size", value: "\(identity.size)"),
                MetadataEntry(key: "source content", value: content),
            ]
        }
        return [
            MetadataEntry(key: "source size", value: "\(identity.size)"),
            MetadataEntry(
                key: "source time", value: "\(identity.modified).\(identity.modifiedNanoseconds)"),
            MetadataEntry(key: "source inode", value: "\(identity.inode)"),
        ]
    }

    /// The plan without what doesn't reach the output.
    private static func essence(of plan: JobPlan, isByContent: Bool) -> JobPlan {
        var plan = plan
        // Where the output goes, its own mark and the memory tell.
        (plan.file, plan.id, plan.base, plan.destination) = ("", "", "", "")
        plan.needs = []
        for index in plan.tracks.indices {
            // What a setting is counts, not who said it.
            guard case .encode(var encoding) = plan.tracks[index].action else { continue }
            encoding.settings = []
            plan.tracks[index].action = .encode(encoding)
        }
        plan.ledger = []
        plan.notes = []
        plan.scheduling = JobScheduling()
        plan.ifExists = .fail
        plan.makesDirectories = true
        plan.expectedSize = nil
        plan.sourceDescription.tracks = []
        plan.sourceDescription.metadata = []
        plan.sourceDescription.chapters = []
        if case .file(let path, _) = plan.source {
            plan.source = .job(id: "", path: isByContent ? "" : path)
        }
        return plan
    }
}

/// The libraries behind FFmpeg's encoders, whose versions FFmpeg itself doesn't tell.
public enum EncoderLibraries {
    /// All shared libraries of this process, by the names of their files.
    public static let loaded: [String] = LoadedLibraries.names

    /// Those that a plan's encoders stand on, by the names of their files: `libx264.so.164`.
    public static func used(by plan: JobPlan) -> [MetadataEntry] {
        let names = Set(
            plan.tracks.compactMap { track -> String? in
                if case .encode(let encoding) = track.action { encoding.encoder.encoder } else { nil }
            })
        return names.sorted().compactMap { name in
            guard let stem = stems[name] ?? (name.hasPrefix("lib") ? name : nil),
                let file = loaded.first(where: { $0.lowercased().hasPrefix(stem.lowercased()) })
            else { return nil }
            return MetadataEntry(key: "encoder \(name)", value: file)
        }
    }

    /// Where the file isn't named as the encoder is.
    private static let stems = [
        "libvpx-vp9": "libvpx.", "libvpx": "libvpx.", "libsvtav1": "libSvtAv1Enc.", "libaom-av1": "libaom.",
        "libx264": "libx264.", "libx265": "libx265.", "libopus": "libopus.", "libvorbis": "libvorbisenc.",
    ]
}
