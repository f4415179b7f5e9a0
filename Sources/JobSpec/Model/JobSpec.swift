public import Diagnostics
public import Media

/// One run of a job as a job file says it.
public final class JobSpec: Sendable {
    /// The full id: the job's, and in brackets which run of it (`web[height=1080]`).
    public let id: Located<String>
    /// The job's id as the file has it.
    public let base: String
    /// What it reads.
    public let asset: AssetSpec
    /// The asset's id, where it has one and was named by it.
    public let assetID: Located<String>?
    /// What parts of it, to be joined in this order; empty for all of it.
    public let ranges: [RangeSpec]
    /// How the range is cut.
    public let cut: Located<CutMode>?
    /// What becomes of damaged data.
    public let onDamage: Located<DamagePolicy>?
    /// Jobs that must have succeeded first, by the ids that the file has.
    public let needs: [Located<String>]
    /// How a run treats it.
    public let scheduling: JobScheduling
    /// What is made of it, in the file's order: never empty.
    public let outputs: [OutputSpec]

    /// It reads what a pattern matches, directly or through other jobs, and is expanded by the plan.
    public let isTemplate: Bool

    init(
        id: Located<String>, base: String, asset: AssetSpec, assetID: Located<String>?, ranges: [RangeSpec],
        cut: Located<CutMode>?, onDamage: Located<DamagePolicy>?, needs: [Located<String>],
        scheduling: JobScheduling, outputs: [OutputSpec], isTemplate: Bool
    ) {
        self.id = id
        self.base = base
        self.asset = asset
        self.assetID = assetID
        self.ranges = ranges
        self.cut = cut
        self.onDamage = onDamage
        self.needs = needs
        self.scheduling = scheduling
        self.outputs = outputs
        self.isTemplate = isTemplate
    }
}

/// How a run treats a job; nothing of it but `threads` reaches the output.
public struct JobScheduling: Codable, Hashable, Sendable {
    /// Seconds on the wall's clock after which it fails.
    public var timeout: MediaTime?
    /// Further attempts after failures that can pass.
    public var retries = 0
    /// Higher ones start first.
    public var priority = 0
    /// Threads of its video encoders, and processors that it counts for.
    public var threads: Int?

    /// As where nothing is said.
    public init() {}
}

extension JobSpec {
    /// Where the first range was written.
    public var rangeLocation: SourceRange? { ranges.first?.range }

    /// The output of an id; nil for the only one of a job that describes it itself.
    public func output(_ id: String?) -> OutputSpec? { outputs.first { $0.id?.value == id } }
}

/// A range of the asset's time line as a job file says it.
public struct RangeSpec: Sendable {
    /// Where it begins; 0 when absent.
    public var start: Located<TimeExpression>?
    /// Where it ends; the asset's end when absent.
    public var end: Located<TimeExpression>?
    /// How long it is, instead of an end.
    public var duration: Located<TimeExpression>?
    /// Where it was written.
    public var range: SourceRange
}
