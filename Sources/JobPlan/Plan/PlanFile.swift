internal import Diagnostics
internal import ExactStrings
package import FoundationEssentials
package import LibAV

package enum ProgramVersion {
    /// Version as `tandem --version` prints it.
    package static let current = "0.1.0"
}

/// A plan on disk: everything that a later run requires to execute it exactly, or to report why that isn't possible.
package struct PlanFile: Codable, Sendable {
    /// A job file or an included file, with its digest at the time of planning.
    package struct Spec: Codable, Hashable, Sendable {
        /// Path of the file, as in diagnostics.
        package var path: String
        package var digest: String
        package init(path: String, digest: String) {
            self.path = path
            self.digest = digest
        }
    }

    /// Type of plan files.
    package static let kind = "tandem-plan"

    /// Type of the file; always `tandem-plan`.
    package var kind = Self.kind
    /// Version of the file's format.
    package var version = 1
    /// Version of the program that wrote the file.
    package var program = ProgramVersion.current
    /// SHA-256 digest of the program that wrote a part, in hexadecimal: machines may have different builds of a version.
    /// Nil for a whole plan.
    package var programDigest: String?
    /// Versions of the loaded FFmpeg libraries.
    package var libraries: [MetadataEntry] = LibraryVersions.all
    /// Paths of the job files that the plan was created from.
    package var files: [String]
    /// Digests of the job files and of the files that they include.
    package var specs: [Spec]
    /// Variables set by `--set`.
    package var variables: [String: String]
    package var plan: BatchPlan
    /// Position of this file in a larger plan; nil for a whole plan.
    package var shard: Shard?

    /// A part of a plan.
    package struct Shard: Codable, Hashable, Sendable {
        /// Index of the part, from 0.
        package var index: Int
        /// Number of parts.
        package var count: Int
        /// Chunks of the only job that the part encodes, instead of executing the job; nil for other parts.
        package var chunks: ChunkPart?
        /// Chunks of the part's jobs that other parts encode; nil if there are none.
        package var readChunks: [ChunkPart]?

        package init(index: Int, count: Int, chunks: ChunkPart? = nil, readChunks: [ChunkPart]? = nil) {
            (self.index, self.count) = (index, count)
            (self.chunks, self.readChunks) = (chunks, readChunks)
        }

        /// Whether the chunks are those of the plan's jobs.
        fileprivate func isConsistent(with plan: BatchPlan) -> Bool {
            let parts = (chunks.map { [$0] } ?? []) + (readChunks ?? [])
            return (chunks == nil || plan.jobs.count == 1)
                && parts.allSatisfy { part in
                    part.isValid
                        && plan.jobs.first { $0.key == part.key }?.chunkJob(part, in: "/")?.isValid == true
                }
        }
    }

    package init(files: [String], specs: [Spec], variables: [String: String], plan: BatchPlan) {
        self.files = files
        self.specs = specs
        self.variables = variables
        self.plan = plan
    }

    /// Encodes the plan as JSON, with `isLine` in one line; equal plans have equal bytes.
    package func data(isLine: Bool = false) throws -> Data {
        try JSONFormat.data(of: self, isLine: isLine)
    }

    /// Reads a plan file. Throws if the file is invalid.
    package static func read(_ data: Data) throws -> PlanFile {
        let file = try JSONFormat.value(PlanFile.self, of: data)
        // Only renditions of packages are divided into segments.
        let isDivided = file.plan.jobs.flatMap(\.outputs).contains { $0.media?.segmentation != nil }
        guard file.plan.jobs.allSatisfy(\.isValid), !isDivided,
            file.shard?.isConsistent(with: file.plan) != false
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a job's outputs refer to missing inputs"))
        }
        return file
    }

    /// Difference between this program or its libraries and those that created the plan; nil if there is none.
    package var environmentProblem: String? {
        guard kind == Self.kind, version == 1 else { return "it is not a plan file of this version" }
        return programChange
    }

    /// Difference between this program or its libraries and those that created the plan, as a clause about the plan; nil
    /// if there is none.
    package var programChange: String? {
        if program != ProgramVersion.current {
            return "it was created by tandem \(program), this is tandem \(ProgramVersion.current)"
        }
        for (was, now) in zip(libraries, LibraryVersions.all) where was != now {
            return "\(was.key) was \(was.value) and is \(now.value)"
        }
        return libraries.count == LibraryVersions.all.count
            ? nil : "it was created with a different set of libraries"
    }

    /// Returns the difference between the job files and those that were planned; nil if there is none.
    package func specProblem(now: [Spec]) -> String? {
        for was in specs {
            guard let found = now.first(where: { $0.path.exact == was.path.exact }) else {
                return "\(was.path) is no longer a job file of this run"
            }
            if found.digest != was.digest { return "\(was.path) changed" }
        }
        return now.count == specs.count ? nil : "the included files changed"
    }

    /// Returns the difference between a new plan and this one; nil if there is none.
    package func planProblem(now: BatchPlan) -> String? {
        let current = Dictionary(
            now.jobs.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for was in plan.jobs {
            guard let found = current[was.key] else {
                if let skip = now.skips.first(where: { $0.key == was.key }) {
                    return "the job \(was.id) is now skipped: \(skip.reason)"
                }
                let refusal = now.refusals.first { $0.key == was.key }
                let error = refusal?.diagnostics.first { $0.severity == .error }
                return "the job \(was.id) is now rejected"
                    + (error.map { ": \($0.range): \($0.message)" } ?? "")
            }
            var same = found
            for (index, (now, then)) in zip(found.inputs, was.inputs).enumerated() {
                if !now.source.isUnchanged(since: then.source) {
                    return "the source of the job \(was.id) changed"
                }
                if now.sourceDescription != then.sourceDescription {
                    return "the source of the job \(was.id) now has different contents"
                }
                same.inputs[index].source = then.source
            }
            for (now, then) in zip(found.outputs, was.outputs) {
                if now.media?.cover?.image != then.media?.cover?.image {
                    return "the cover of the job \(was.id) changed"
                }
                if now.allTracks.flatMap(\.addedFiles).map(\.contents)
                    != then.allTracks.flatMap(\.addedFiles).map(\.contents)
                {
                    return "a subtitle file of the job \(was.id) changed"
                }
            }
            if same != was { return "the plan of the job \(was.id) changed" }
        }
        return now.jobs.count == plan.jobs.count ? nil : "the set of jobs changed"
    }
}

/// A digest that detects changes of a text. The digest isn't cryptographic: two texts with equal digests can
/// be constructed.
package enum ContentDigest {
    /// Returns the 64-bit FNV-1a hash and the length.
    package static func of(_ bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var count = 0
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            count += 1
        }
        return "\(count)-\(String(hash, radix: 16))"
    }
}
