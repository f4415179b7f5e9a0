/// The severity of a diagnostic.
public enum Severity: String, Codable, Sendable, CaseIterable {
    /// The file is invalid, or the job can't be carried out.
    case error
    /// The result is probably not the intended one.
    case warning
    /// Information that requires no action.
    case note
}

/// A located message about a job file or a job.
public struct Diagnostic: Hashable, Codable, Sendable {
    /// Another location that explains the message, such as the first of two equal keys.
    public struct Note: Hashable, Codable, Sendable {
        /// Text of the note, in one line.
        public var message: String
        /// Location that the note refers to; nil for a note about the message as a whole.
        public var range: SourceRange?
        /// Creates a note; without `range`, it refers to no location.
        package init(_ message: String, at range: SourceRange? = nil) {
            self.message = message
            self.range = range
        }
    }

    /// Severity of the message.
    public var severity: Severity
    /// Rule that is violated. Its raw value is a stable id such as `unknown-key`.
    public var rule: Rule
    /// Description of the problem and of the allowed values, in one line.
    public var message: String
    /// Location of the problem.
    public var range: SourceRange
    /// Related locations, followed by the steps of the range's context (`SourceContext`).
    public var notes: [Note]
    /// Suggested correction, such as "did you mean `codec`?"; nil if there is none.
    public var help: String?
    /// Whether the environment causes the problem, such as a missing encoder, and not the contents of the job file.
    public var isEnvironment: Bool
    /// Number of further occurrences of the same message at the same location, with other notes or in other
    /// jobs.
    public var repetitions = 0
    /// Ids of the affected job instances, at most ten; nil if the message doesn't concern a single instance.
    public var jobs: [String]?

    /// Maximum number of ids in `jobs`; further instances are only counted.
    static let maxJobs = 10

    /// The affected job instances as a phrase, such as "in the job a"; nil without `jobs`.
    public var jobsSentence: String? {
        guard let jobs, let first = jobs.first else { return nil }
        let more = repetitions + 1 - jobs.count
        return jobs.count == 1 && more <= 0
            ? "in the job \(first)"
            : "in the jobs \(jobs.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
    }

    /// Creates a diagnostic. `notes` are followed by those of the context of `range`.
    package init(
        _ severity: Severity, _ rule: Rule, _ message: String, at range: SourceRange, notes: [Note] = [],
        help: String? = nil, isEnvironment: Bool = false
    ) {
        self.severity = severity
        self.rule = rule
        self.message = message
        self.range = range
        self.notes = notes + (range.context?.notes ?? [])
        self.help = help
        self.isEnvironment = isEnvironment
    }
}

/// The rule of a diagnostic. Raw values are stable ids; docs/rules.md describes each of them.
public enum Rule: String, Codable, Sendable, CaseIterable {
    /// A job file, or a file that it includes, that can't be read.
    case fileUnreadable = "file-unreadable"
    /// A file that is not valid YAML.
    case yamlSyntax = "yaml-syntax"
    /// An exceeded limit on size, depth, aliases, list lengths or includes.
    case yamlLimit = "yaml-limit"
    /// A key, a clip's name or a matrix value that occurs twice.
    case duplicateKey = "duplicate-key"
    /// A key that the mapping doesn't have.
    case unknownKey = "unknown-key"
    /// A required key or value that is missing.
    case missingKey = "missing-key"
    /// A scalar, list or mapping where the key requires another of these types.
    case wrongType = "wrong-type"
    /// A value that can't be parsed, is out of bounds, or is not one of the accepted values.
    case invalidValue = "invalid-value"
    /// Keys that are mutually exclusive.
    case conflictingKeys = "conflicting-keys"
    /// A reference to an asset, job, output, setting or variable that is not defined.
    case undefinedName = "undefined-name"
    /// A name that has an invalid format or is reserved.
    case invalidName = "invalid-name"
    /// An unterminated `${…}`, or variables that refer to each other in a cycle.
    case substitution
    /// Named settings that use each other in a cycle.
    case settingsCycle = "settings-cycle"
    /// Files that include each other in a cycle.
    case includeCycle = "include-cycle"
    /// An included file that contains jobs; they are not run.
    case includedJobs = "included-jobs"
    /// A matrix or pattern that expands to too many job instances.
    case fanOut = "fan-out"
    /// A pattern that matches no file.
    case noMatch = "no-match"
    /// A URL as a source while network access is not allowed.
    case networkNotAllowed = "network-not-allowed"
    /// A `--set` of a variable that no job file defines.
    case unusedVariable = "unused-variable"
    /// A matrix key that no value of its job refers to.
    case unusedMatrixKey = "unused-matrix-key"
    /// A filter chain that is invalid or contains a filter that is not allowed.
    case filterChain = "filter-chain"
    /// A source track that no track rule selects.
    case leftoverTrack = "leftover-track"
    /// Jobs that depend on each other in a cycle.
    case dependencyCycle = "dependency-cycle"
    /// A part of the job language that this version doesn't support.
    case notSupported = "not-supported"
    /// A codec whose name is not known to this version.
    case unknownCodec = "unknown-codec"
    /// An encoder whose name is not known to this version.
    case unknownEncoder = "unknown-encoder"
    /// An encoder that this build lacks, or that can't be opened on this machine.
    case encoderMissing = "encoder-missing"
    /// A setting that the codec or its encoder doesn't support.
    case codecSetting = "codec-setting"
    /// A setting that was reduced to a limit of the codec that depends on the source.
    case codecLimit = "codec-limit"
    /// A `target_size` that can't be reached, or that a finished file misses.
    case targetSize = "target-size"
    /// A `quality` of video that can't be reached, or that a finished file misses.
    case targetQuality = "target-quality"
    /// A private option that the encoder doesn't accept.
    case encoderOption = "encoder-option"
    /// A container that is unknown, or can't be derived from the file name.
    case unknownContainer = "unknown-container"
    /// A codec or track that the container can't store.
    case containerCodec = "container-codec"
    /// A setting that the container doesn't support.
    case containerSetting = "container-setting"
    /// A source that is missing or can't be opened.
    case sourceUnreadable = "source-unreadable"
    /// A selection that matches no track.
    case noSuchTrack = "no-such-track"
    /// A source track that this build can't decode.
    case cannotDecode = "cannot-decode"
    /// A range that is empty or extends beyond the source.
    case invalidRange = "invalid-range"
    /// A composition whose frame rate is derived from a clip with a variable frame rate.
    case variableRate = "variable-rate"
    /// A range that doesn't allow the track to be copied.
    case copyRange = "copy-range"
    /// A source whose timestamps don't allow the track to be copied.
    case sourceOrder = "source-order"
    /// A destination that exists and is not an unchanged output of this job file.
    case destinationExists = "destination-exists"
    /// A destination that is a source or a job file.
    case destinationIsSource = "destination-is-source"
    /// Two outputs with the same destination.
    case destinationCollision = "destination-collision"
    /// A destination whose folder can't be written.
    case destinationUnwritable = "destination-unwritable"
    /// A file system with less free space than the outputs are likely to need.
    case lowSpace = "low-space"
    /// A pattern that also matches outputs of its job.
    case patternTakesOutputs = "pattern-takes-outputs"
    /// A job that failed while it ran.
    case jobFailed = "job-failed"
    /// An output that was published with a warning.
    case jobWarning = "job-warning"
    /// A job that exceeded its `timeout`.
    case jobTimeout = "job-timeout"
    /// A worker process that terminated unexpectedly while it ran a job.
    case workerDied = "worker-died"
    /// An output that doesn't meet an expectation.
    case expectationFailed = "expectation-failed"
    /// An expectation that the plan contradicts.
    case expectationImpossible = "expectation-impossible"
}

extension Rule {
    /// The violation in one sentence, without a period. SARIF's `shortDescription` and the contents of
    /// docs/rules.md quote it.
    public var summary: String {
        switch self {
        case .fileUnreadable: "The job file, or a file that it includes, can't be read"
        case .yamlSyntax: "The file is not valid YAML"
        case .yamlLimit: "A limit on size, depth, aliases, list lengths or includes is exceeded"
        case .duplicateKey: "The key, name or matrix value is duplicated"
        case .unknownKey: "The key is unknown"
        case .missingKey: "A required key or value is missing"
        case .wrongType: "The value has the wrong type"
        case .invalidValue: "The value is invalid"
        case .conflictingKeys: "The keys are mutually exclusive"
        case .undefinedName: "The name is not defined"
        case .invalidName: "The name has an invalid format or is reserved"
        case .substitution: "`${…}` is unterminated, or variables refer to each other in a cycle"
        case .settingsCycle: "Named settings use each other in a cycle"
        case .includeCycle: "Files include each other in a cycle"
        case .includedJobs: "The included file contains jobs, which are not run"
        case .fanOut: "A matrix or pattern expands to too many job instances"
        case .noMatch: "The pattern matches no file"
        case .unusedVariable: "`--set` sets a variable that no job file defines"
        case .unusedMatrixKey: "No value of the job refers to the matrix key"
        case .filterChain: "The filter chain is invalid or contains a filter that is not allowed"
        case .leftoverTrack: "No track rule selects the source track"
        case .dependencyCycle: "Jobs depend on each other in a cycle"
        case .notSupported: "The key or value is not supported by this version"
        case .unknownCodec: "The codec is unknown"
        case .unknownEncoder: "The encoder is unknown"
        case .encoderMissing: "The encoder is not available"
        case .codecSetting: "The codec doesn't support the setting"
        case .codecLimit: "The setting exceeds a limit that depends on the source, and is reduced to it"
        case .targetSize: "The `target_size` can't be reached"
        case .targetQuality: "The `quality` of video can't be reached"
        case .encoderOption: "The encoder doesn't accept the private option"
        case .unknownContainer: "The container is unknown, or can't be derived from the file name"
        case .containerCodec: "The container can't store the codec or the track"
        case .containerSetting: "The container doesn't support the setting"
        case .sourceUnreadable: "The source is missing or can't be opened"
        case .noSuchTrack: "The selection matches no track"
        case .cannotDecode: "This build can't decode the track"
        case .invalidRange: "The range is empty or extends beyond the source"
        case .sourceOrder: "The source's timestamps don't allow the track to be copied"
        case .variableRate: "The composition's frame rate is derived from a clip with a variable frame rate"
        case .copyRange: "The range doesn't allow the track to be copied"
        case .destinationExists: "The destination exists and is not an unchanged output of this job file"
        case .destinationIsSource: "The destination is a source or a job file"
        case .destinationCollision: "Two outputs have the same destination"
        case .destinationUnwritable: "The destination's folder can't be written"
        case .networkNotAllowed: "The source is a URL, and network access is not allowed"
        case .patternTakesOutputs: "The pattern also matches outputs of its job"
        case .lowSpace: "The free disk space is less than the outputs are likely to need"
        case .jobFailed: "The job failed while it ran"
        case .jobWarning: "The output was published with a warning"
        case .jobTimeout: "The job exceeded its timeout"
        case .workerDied: "The worker process of the job terminated unexpectedly"
        case .expectationImpossible: "The plan contradicts an expectation"
        case .expectationFailed: "The output doesn't meet an expectation"
        }
    }
}
