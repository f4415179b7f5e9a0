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
        /// Explanation of the location.
        public var message: String
        /// Location; nil if there is none.
        public var range: SourceRange?
        /// Creates a note.
        public init(_ message: String, at range: SourceRange? = nil) {
            self.message = message
            self.range = range
        }
    }

    /// Severity of the message.
    public var severity: Severity
    /// Rule that is violated. Its raw value is a stable id such as `unknown-key`.
    public var rule: Rule
    /// Problem and allowed values, in one line.
    public var message: String
    /// Location of the problem.
    public var range: SourceRange
    /// Other locations, and the context of the problem's location.
    public var notes: [Note]
    /// Suggested correction, such as "did you mean `codec`?"; nil if there is none.
    public var help: String?
    /// Whether the environment is the cause, not the file.
    public var isEnvironment: Bool
    /// Number of further occurrences of the same message at the same location, with other notes or in other
    /// jobs.
    public var repetitions = 0
    /// Ids of the affected job instances, at most ten; nil if the message doesn't concern a single instance.
    public var jobs: [String]?

    /// Maximum number of ids in `jobs`; further instances are only counted.
    static let mostJobs = 10

    /// The affected job instances as a phrase, such as "in the job a"; nil without `jobs`.
    public var jobsSentence: String? {
        guard let jobs, let first = jobs.first else { return nil }
        let more = repetitions + 1 - jobs.count
        return jobs.count == 1 && more <= 0
            ? "in the job \(first)"
            : "in the jobs \(jobs.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
    }

    /// Creates a message. Its notes are followed by those of the location's context.
    public init(
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

/// The stable ids of all checks.
public enum Rule: String, Codable, Sendable, CaseIterable {
    /// A job file or a file that it includes can't be read.
    case fileUnreadable = "file-unreadable"
    /// The file isn't valid YAML.
    case yamlSyntax = "yaml-syntax"
    /// A limit on size, depth, aliases or includes is exceeded.
    case yamlLimit = "yaml-limit"
    /// A key occurs twice in a mapping.
    case duplicateKey = "duplicate-key"
    /// A key isn't allowed at its location.
    case unknownKey = "unknown-key"
    /// A required key is missing.
    case missingKey = "missing-key"
    /// A node has the wrong kind: a mapping instead of a list, for example.
    case wrongType = "wrong-type"
    /// A value is malformed or not allowed.
    case invalidValue = "invalid-value"
    /// Keys exclude each other.
    case conflictingKeys = "conflicting-keys"
    /// An asset, a job, an output or settings of that name aren't defined.
    case undefinedName = "undefined-name"
    /// A name isn't a valid identifier.
    case invalidName = "invalid-name"
    /// `${…}` is not closed, or refers to itself.
    case substitution
    /// Settings are based on each other in a cycle.
    case settingsCycle = "settings-cycle"
    /// Files include each other in a cycle.
    case includeCycle = "include-cycle"
    /// An included file contains jobs, which are not run.
    case includedJobs = "included-jobs"
    /// A matrix or a pattern expands to too many job instances.
    case fanOut = "fan-out"
    /// A pattern matches no file.
    case noMatch = "no-match"
    /// A source is a URL, and network access isn't allowed.
    case networkNotAllowed = "network-not-allowed"
    /// `--set` sets a variable that isn't used.
    case unusedVariable = "unused-variable"
    /// A filter chain can't be built, or contains a filter that isn't allowed in job files.
    case filterChain = "filter-chain"
    /// Source tracks are selected by no rule.
    case leftoverTrack = "leftover-track"
    /// Jobs depend on each other in a cycle.
    case dependencyCycle = "dependency-cycle"
    /// A part of the job language is not supported by this version.
    case notSupported = "not-supported"
    /// A codec is unknown.
    case unknownCodec = "unknown-codec"
    /// An encoder is unknown.
    case unknownEncoder = "unknown-encoder"
    /// An encoder is not available in this build, or can't be opened on this machine.
    case encoderMissing = "encoder-missing"
    /// A setting isn't supported by the codec.
    case codecSetting = "codec-setting"
    /// A setting was reduced to a limit of the codec that depends on the source.
    case codecLimit = "codec-limit"
    /// A private option isn't supported by the encoder.
    case encoderOption = "encoder-option"
    /// A container is unknown, or can't be derived from the destination's name.
    case unknownContainer = "unknown-container"
    /// A codec or track isn't supported by the container.
    case containerCodec = "container-codec"
    /// A setting isn't supported by the container.
    case containerSetting = "container-setting"
    /// A source is missing or can't be opened.
    case sourceUnreadable = "source-unreadable"
    /// A selection matches no track.
    case noSuchTrack = "no-such-track"
    /// A source track can't be decoded by this build.
    case cannotDecode = "cannot-decode"
    /// A range is empty, or beyond the end of the source.
    case invalidRange = "invalid-range"
    /// A composition's frame rate is derived from a clip with a variable frame rate.
    case variableRate = "variable-rate"
    /// The range doesn't allow a copy.
    case copyRange = "copy-range"
    /// The order of a source's timestamps doesn't allow a copy.
    case sourceOrder = "source-order"
    /// The destination exists and isn't an output of Tandem.
    case destinationExists = "destination-exists"
    /// The destination is also a source of a job.
    case destinationIsSource = "destination-is-source"
    /// Two outputs have the same destination.
    case destinationCollision = "destination-collision"
    /// The destination's folder isn't writable.
    case destinationUnwritable = "destination-unwritable"
    /// The free disk space is less than the predicted size of the outputs.
    case lowSpace = "low-space"
    /// A pattern matches outputs of the jobs that it expands to.
    case patternTakesOutputs = "pattern-takes-outputs"
    /// A job failed during the run.
    case jobFailed = "job-failed"
    /// An output was created with a warning.
    case jobWarning = "job-warning"
    /// A job exceeded its `timeout`.
    case jobTimeout = "job-timeout"
    /// The worker process of a job died.
    case workerDied = "worker-died"
    /// An output doesn't meet an expectation of `expect`.
    case expectationFailed = "expectation-failed"
    /// An expectation contradicts the plan.
    case expectationImpossible = "expectation-impossible"
}

extension Rule {
    /// Summary of the rule: a sentence without its period.
    public var summary: String {
        switch self {
        case .fileUnreadable: "A job file or one that it includes can't be read"
        case .yamlSyntax: "The file is no valid YAML"
        case .yamlLimit: "A bound on size, depth, aliases or includes is exceeded"
        case .duplicateKey: "A key, or a value of a matrix, stands twice"
        case .unknownKey: "A key has no meaning where it stands"
        case .missingKey: "A key or value that must be there is not"
        case .wrongType: "A value is of the wrong kind"
        case .invalidValue: "A value is not understood, or not allowed"
        case .conflictingKeys: "Keys exclude each other"
        case .undefinedName: "A name is not defined"
        case .invalidName: "A name is not of the form that names have"
        case .substitution: "`${…}` is not closed, or variables stand for each other"
        case .settingsCycle: "Named settings use each other in a circle"
        case .includeCycle: "Files include each other in a circle"
        case .includedJobs: "An included file has jobs, which are not run"
        case .fanOut: "A matrix or a pattern comes to too many runs"
        case .noMatch: "A pattern matches no file"
        case .unusedVariable: "`--set` gives a variable that no job file has"
        case .filterChain: "A chain of filters can't be used"
        case .leftoverTrack: "No rule selects a source track"
        case .dependencyCycle: "Jobs wait for each other in a circle"
        case .notSupported: "A part of the job language that this version doesn't have"
        case .unknownCodec: "There is no such codec"
        case .unknownEncoder: "There is no such encoder"
        case .encoderMissing: "The encoder is not available"
        case .codecSetting: "The codec doesn't take the setting"
        case .codecLimit: "The setting exceeds a limit that depends on the source, and is reduced to it"
        case .encoderOption: "The encoder doesn't take the private option"
        case .unknownContainer: "There is no such container, or none can be told from the name"
        case .containerCodec: "The container can't hold the codec or the track"
        case .containerSetting: "The container can't honour the setting"
        case .sourceUnreadable: "A source is missing or can't be opened"
        case .noSuchTrack: "A selection matches no track"
        case .cannotDecode: "This build can't decode the track"
        case .invalidRange: "A range is empty, or reaches beyond the source"
        case .sourceOrder: "The order of the source's times doesn't let it be copied"
        case .variableRate: "A composition's frame rate follows from a clip with a variable frame rate"
        case .copyRange: "A copied track can't be cut there"
        case .destinationExists: "Somebody else's file is at the destination"
        case .destinationIsSource: "The destination is a source"
        case .destinationCollision: "Two outputs have one destination"
        case .destinationUnwritable: "The destination's folder can't be written"
        case .networkNotAllowed: "A source is a URL, and the network is not allowed"
        case .patternTakesOutputs: "A pattern matches what is made of its files"
        case .lowSpace: "The disk has less room than the outputs are likely to need"
        case .jobFailed: "A job failed while it ran"
        case .jobWarning: "A job's output is not all that its source promised"
        case .jobTimeout: "A job took longer than its timeout"
        case .workerDied: "The process that did a job died"
        case .expectationImpossible: "What `expect` says can't come of the plan"
        case .expectationFailed: "An output is not what `expect` says"
        }
    }
}
