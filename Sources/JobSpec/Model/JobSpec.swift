package import Diagnostics
package import Media

/// One run of a job as a job file says it.
package final class JobSpec: Sendable {
    /// The full id: the job's, and in brackets which run of it (`web[height=1080]`).
    package let id: Located<String>
    /// The job's id as the file has it.
    package let base: String
    /// What it reads.
    package let asset: AssetSpec
    /// The asset's id, where it has one and was named by it.
    package let assetID: Located<String>?
    /// What parts of it, to be joined in this order; empty for all of it.
    package let ranges: [RangeSpec]
    /// How the range is cut.
    package let cut: Located<CutMode>?
    /// What becomes of damaged data.
    package let onDamage: Located<DamagePolicy>?
    /// Jobs that must have succeeded first, by the ids that the file has.
    package let needs: [Located<String>]
    /// How a run treats it.
    package let scheduling: JobScheduling
    /// What is made of it, in the file's order: never empty.
    package let outputs: [OutputSpec]

    /// It reads what a pattern matches, directly or through other jobs, and is expanded by the plan.
    package let isTemplate: Bool

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
package struct JobScheduling: Codable, Hashable, Sendable {
    /// Seconds on the wall's clock after which it fails.
    package var timeout: MediaTime?
    /// Further attempts after failures that can pass.
    package var retries = 0
    /// Higher ones start first.
    package var priority = 0
    /// Threads of its video encoders, and processors that it counts for.
    package var threads: Int?

    /// As where nothing is said.
    package init() {}
}

extension JobSpec {
    /// Where the first range was written.
    package var rangeLocation: SourceRange? { ranges.first?.range }

    /// The output of an id; nil for the only one of a job that describes it itself.
    package func output(_ id: String?) -> OutputSpec? { outputs.first { $0.id?.value == id } }
}

/// A range of the asset's time line as a job file says it.
package struct RangeSpec: Sendable {
    /// Where it begins; 0 when absent.
    package var start: Located<TimeExpression>?
    /// Where it ends; the asset's end when absent.
    package var end: Located<TimeExpression>?
    /// How long it is, instead of an end.
    package var duration: Located<TimeExpression>?
    /// Where it was written.
    package var range: SourceRange
}
