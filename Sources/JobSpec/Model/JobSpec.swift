package import Diagnostics
package import Media

/// A job instance of a job file.
package final class JobSpec: Sendable {
    /// Full id: the job's id, with the instance's label in brackets (`web[height=1080]`).
    package let id: Located<String>
    /// Id of the job in the file.
    package let base: String
    package let asset: AssetSpec
    /// Id of the asset, if the job refers to the asset by id.
    package let assetID: Located<String>?
    /// Conditions on the source without which the job is skipped; nil for none.
    package let when: SourceCondition?
    /// Condition without which the finished output isn't published; nil for none.
    package let publishIf: PublishCondition?
    /// Ranges of the source, joined in this order; empty for all of it.
    package let ranges: [RangeSpec]
    /// Cut mode; nil for `exact`.
    package let cut: Located<CutMode>?
    /// Handling of damaged data.
    package let onDamage: Located<DamagePolicy>?
    /// Jobs that must succeed first, by their ids in the file.
    package let needs: [Located<String>]
    package let scheduling: JobScheduling
    /// Name of the group of instances that share a gain; nil if all instances of the job are one group.
    package let group: Located<String>?
    /// Outputs in the file's order; never empty.
    package let outputs: [OutputSpec]

    /// Whether the job reads the matches of a pattern, directly or through other jobs. The planner expands such a
    /// job.
    package let isTemplate: Bool
    /// Whether a copied range may begin and end between keyframes, with the additional frames hidden by an edit list.
    /// Set only for exports of the library's API; job files use `cut`.
    package let hidesFramesOfCuts: Bool
    /// Outputs that are omitted because the source has no track for them, as sentences.
    package let omissions: [String]
    /// Names of the outputs that are divided into one for each track, also of those that are omitted.
    package let dividedOutputs: [String]
    /// The instance before decoding, for decoding it again once the source's tracks are known; nil if no output depends on
    /// them.
    let undivided: JobInstance?

    init(
        id: Located<String>, base: String, asset: AssetSpec, assetID: Located<String>?, ranges: [RangeSpec],
        cut: Located<CutMode>?, onDamage: Located<DamagePolicy>?, needs: [Located<String>],
        scheduling: JobScheduling, outputs: [OutputSpec], isTemplate: Bool, when: SourceCondition? = nil,
        publishIf: PublishCondition? = nil, group: Located<String>? = nil, hidesFramesOfCuts: Bool = false,
        omissions: [String] = [], dividedOutputs: [String] = [], undivided: JobInstance? = nil
    ) {
        self.when = when
        self.publishIf = publishIf
        self.id = id
        self.base = base
        self.asset = asset
        self.assetID = assetID
        self.ranges = ranges
        self.cut = cut
        self.onDamage = onDamage
        self.needs = needs
        self.scheduling = scheduling
        self.group = group
        self.outputs = outputs
        self.isTemplate = isTemplate
        self.hidesFramesOfCuts = hidesFramesOfCuts
        self.omissions = omissions
        self.dividedOutputs = dividedOutputs
        self.undivided = undivided
    }
}

/// Scheduling options of a job. Only `threads` affects the output.
package struct JobScheduling: Codable, Hashable, Sendable {
    /// Maximum wall-clock duration of a run, after which the job fails; nil for none.
    package var timeout: MediaTime?
    /// Maximum number of retries after transient failures. Default: 0.
    package var retries = 0
    /// Priority; jobs with a higher value start first. Default: 0.
    package var priority = 0
    /// Threads of the video encoders, and the number of processors that the scheduler reserves; nil for the encoder's
    /// default.
    package var threads: Int?

    package init() {}
}

extension JobSpec {
    /// Location of the first range in the job file.
    package var rangeLocation: SourceRange? { ranges.first?.range }

    /// Maximum number of outputs. Each has a file that is open while the job runs.
    package static let mostOutputs = 32

    /// All outputs, with the renditions of a package in place of the package.
    package var renditions: [OutputSpec] { outputs.flatMap { $0.package?.renditions ?? [$0] } }

    /// The subtitle files that rules and encodings name, with repetitions.
    package var subtitleFiles: [SubtitleFileSpec] { subtitleInputs.map(\.file) }

    /// The covers and subtitle files that are read beside the source, with repetitions, and whether the job runs without them.
    package var addedFiles: [(path: Located<String>, isOptional: Bool)] {
        outputs.compactMap(\.media?.metadata.cover).map { ($0, false) }
            + subtitleInputs.map { ($0.file.path, $0.isOptional) }
    }

    private var subtitleInputs: [(file: SubtitleFileSpec, isOptional: Bool)] {
        var files: [(file: SubtitleFileSpec, isOptional: Bool)] = []
        func add(_ output: OutputSpec) {
            for rule in output.tracks {
                if let file = rule.file { files.append((file, rule.isOptional)) }
                if let burn = rule.action.video?.burn, let file = burn.file {
                    files.append((file, burn.isOptional))
                }
            }
        }
        for output in outputs {
            for rendition in output.package?.renditions ?? [] { add(rendition) }
            add(output)
        }
        return files
    }

    /// The first normalization with a gain that the instances of the job share; nil for none. Evaluated for each job of a
    /// call, also those that are up to date.
    package var sharedNormalization: Located<NormalizationSpec>? {
        func found(in output: OutputSpec) -> Located<NormalizationSpec>? {
            for rule in output.tracks {
                if let spec = rule.action.audio?.normalize, spec.value.sharesGain { return spec }
            }
            return nil
        }
        for output in outputs {
            if let found = found(in: output) ?? output.package?.renditions.lazy.compactMap(found).first {
                return found
            }
        }
        return nil
    }

    /// Returns the output with an id; nil selects the only output of a job without `outputs`.
    package func output(_ id: String?) -> OutputSpec? { outputs.first { $0.id?.value == id } }
}

/// A range of the asset's time line.
package struct RangeSpec: Sendable {
    /// Start of the range; nil for 0.
    package var start: Located<TimeExpression>?
    /// End of the range; nil for the asset's end.
    package var end: Located<TimeExpression>?
    /// Duration of the range, as an alternative to `end`.
    package var duration: Located<TimeExpression>?
    /// The range's location in the job file.
    package var range: SourceRange
}
