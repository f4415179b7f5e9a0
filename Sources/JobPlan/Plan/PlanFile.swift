internal import Diagnostics
internal import ExactStrings
package import FoundationEssentials
package import LibAV

/// The program's own version.
package enum ProgramVersion {
    /// As `tandem --version` prints it.
    package static let current = "0.1.0"
}

/// A plan on disk: everything that a later run needs to carry out exactly that, or to say why it can't.
package struct PlanFile: Codable, Sendable {
    /// A job file or one that it includes, as it was.
    package struct Spec: Codable, Hashable, Sendable {
        /// The file as it was named.
        package var path: String
        /// What was in it.
        package var digest: String
        /// Notes a file.
        package init(path: String, digest: String) {
            self.path = path
            self.digest = digest
        }
    }

    /// What the file is.
    package var kind = "tandem-plan"
    /// The version of its form.
    package var version = 1
    /// The program that made it.
    package var program = ProgramVersion.current
    /// FFmpeg's libraries, as loaded.
    package var libraries: [MetadataEntry] = LibraryVersions.all
    /// The job files that it was made of.
    package var files: [String]
    /// Those and what they include.
    package var specs: [Spec]
    /// `--set`.
    package var variables: [String: String]
    /// The plan.
    package var plan: BatchPlan
    /// Which part of a larger plan it is; nil for all of one.
    package var shard: Shard?

    /// A part of a plan.
    package struct Shard: Codable, Hashable, Sendable {
        /// Which one, from 0.
        package var index: Int
        /// How many there are.
        package var count: Int
        /// Makes one.
        package init(index: Int, count: Int) {
            self.index = index
            self.count = count
        }
    }

    /// A plan to be written.
    package init(files: [String], specs: [Spec], variables: [String: String], plan: BatchPlan) {
        self.files = files
        self.specs = specs
        self.variables = variables
        self.plan = plan
    }

    /// As JSON, stable from run to run.
    package func data() throws -> Data {
        try JSONForm.data(of: self)
    }

    /// Reads one; throws where it is none.
    package static func read(_ data: Data) throws -> PlanFile {
        let file = try JSONForm.value(PlanFile.self, of: data)
        guard file.plan.jobs.allSatisfy(\.isSound) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a job's outputs and inputs don't fit each other"))
        }
        return file
    }

    /// Why the program or its libraries are not those that the plan was made with; nil where they are.
    package var environmentProblem: String? {
        guard kind == "tandem-plan", version == 1 else { return "it is no plan of this version" }
        if program != ProgramVersion.current {
            return "it was made by tandem \(program), and this is \(ProgramVersion.current)"
        }
        for (was, now) in zip(libraries, LibraryVersions.all) where was != now {
            return "\(was.key) was \(was.value) and is \(now.value)"
        }
        return libraries.count == LibraryVersions.all.count ? nil : "it was made with other libraries"
    }

    /// Why the job files are not as they were; nil where they are.
    package func specProblem(now: [Spec]) -> String? {
        for was in specs {
            guard let found = now.first(where: { $0.path.exact == was.path.exact }) else {
                return "\(was.path) is no longer part of it"
            }
            if found.digest != was.digest { return "\(was.path) changed" }
        }
        return now.count == specs.count ? nil : "other files are included now"
    }

    /// Why what would be done now is not what was planned; nil where it is the same.
    package func planProblem(now: BatchPlan) -> String? {
        let current = Dictionary(
            now.jobs.map { (JobKey(file: $0.file, id: $0.id), $0) }, uniquingKeysWith: { first, _ in first })
        for was in plan.jobs {
            guard let found = current[JobKey(file: was.file, id: was.id)] else {
                return "the job \(was.id) can't be carried out any more"
            }
            var same = found
            for (index, (now, then)) in zip(found.inputs, was.inputs).enumerated() {
                if !now.source.isUnchanged(since: then.source) {
                    return "the source of the job \(was.id) changed"
                }
                if now.sourceDescription != then.sourceDescription {
                    return "the source of the job \(was.id) is something else now"
                }
                same.inputs[index].source = then.source
            }
            if same != was { return "the job \(was.id) would be done otherwise now" }
        }
        return now.jobs.count == plan.jobs.count ? nil : "there are other jobs now"
    }
}

/// Tells whether a text changed. Nobody is kept from making two texts of one digest; plans are not secrets.
package enum ContentDigest {
    /// FNV-1a of 64 bits, and the length.
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
