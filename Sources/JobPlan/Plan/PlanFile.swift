internal import Diagnostics
internal import ExactStrings
public import FoundationEssentials
public import LibAV

/// The program's own version.
public enum ProgramVersion {
    /// As `tandem --version` prints it.
    public static let current = "0.1.0"
}

/// A plan on disk: everything that a later run needs to carry out exactly that, or to say why it can't.
public struct PlanFile: Codable, Sendable {
    /// A job file or one that it includes, as it was.
    public struct Spec: Codable, Hashable, Sendable {
        /// The file as it was named.
        public var path: String
        /// What was in it.
        public var digest: String
        /// Notes a file.
        public init(path: String, digest: String) {
            self.path = path
            self.digest = digest
        }
    }

    /// What the file is.
    public var kind = "tandem-plan"
    /// The version of its form.
    public var version = 1
    /// The program that made it.
    public var program = ProgramVersion.current
    /// FFmpeg's libraries, as loaded.
    public var libraries: [MetadataEntry] = LibraryVersions.all
    /// The job files that it was made of.
    public var files: [String]
    /// Those and what they include.
    public var specs: [Spec]
    /// `--set`.
    public var variables: [String: String]
    /// The plan.
    public var plan: BatchPlan
    /// Which part of a larger plan it is; nil for all of one.
    public var shard: Shard?

    /// A part of a plan.
    public struct Shard: Codable, Hashable, Sendable {
        /// Which one, from 0.
        public var index: Int
        /// How many there are.
        public var count: Int
        /// Makes one.
        public init(index: Int, count: Int) {
            self.index = index
            self.count = count
        }
    }

    /// A plan to be written.
    public init(files: [String], specs: [Spec], variables: [String: String], plan: BatchPlan) {
        self.files = files
        self.specs = specs
        self.variables = variables
        self.plan = plan
    }

    /// As JSON, stable from run to run.
    public func data() throws -> Data {
        try JSONForm.data(of: self)
    }

    /// Reads one; throws where it is none.
    public static func read(_ data: Data) throws -> PlanFile {
        let file = try JSONForm.value(PlanFile.self, of: data)
        guard file.plan.jobs.allSatisfy(\.isSound) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a job's outputs and inputs don't fit each other"))
        }
        return file
    }

    /// Why the program or its libraries are not those that the plan was made with; nil where they are.
    public var environmentProblem: String? {
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
    public func specProblem(now: [Spec]) -> String? {
        for was in specs {
            guard let found = now.first(where: { $0.path.exact == was.path.exact }) else {
                return "\(was.path) is no longer part of it"
            }
            if found.digest != was.digest { return "\(was.path) changed" }
        }
        return now.count == specs.count ? nil : "other files are included now"
    }

    /// Why what would be done now is not what was planned; nil where it is the same.
    public func planProblem(now: BatchPlan) -> String? {
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
public enum ContentDigest {
    /// FNV-1a of 64 bits, and the length.
    public static func of(_ bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var count = 0
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            count += 1
        }
        return "\(count)-\(String(hash, radix: 16))"
    }
}
