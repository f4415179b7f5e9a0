/// How bad it is.
public enum Severity: String, Codable, Sendable, CaseIterable {
    /// The file is wrong, or can't be carried out.
    case error
    /// Probably not what was meant.
    case warning
    /// Worth knowing.
    case note
}

/// A located message about a job file or what it asks for.
public struct Diagnostic: Hashable, Codable, Sendable {
    /// A further place that explains the message.
    public struct Note: Hashable, Codable, Sendable {
        /// What is to be seen there.
        public var message: String
        /// Where.
        public var range: SourceRange?
        /// Makes a note.
        public init(_ message: String, at range: SourceRange? = nil) {
            self.message = message
            self.range = range
        }
    }

    /// How bad it is.
    public var severity: Severity
    /// A stable id such as `unknown-key`, one of `Rule`.
    public var rule: Rule
    /// What is wrong and what is allowed, in one line.
    public var message: String
    /// Where.
    public var range: SourceRange
    /// Further places.
    public var notes: [Note]
    /// What to do about it, such as "did you mean `codec`?".
    public var help: String?
    /// The environment can't do it, rather than the file being wrong.
    public var isEnvironment: Bool
    /// How often the same was found at the same place in another way, by other jobs.
    public var repetitions = 0
    /// The runs of a job that it was found in, the first ten of them; nil where it is about no single run.
    public var jobs: [String]?

    /// More is counted alone.
    static let mostJobs = 10

    /// What `jobs` says, as a sentence.
    public var jobsSentence: String? {
        guard let jobs, let first = jobs.first else { return nil }
        let more = repetitions + 1 - jobs.count
        return jobs.count == 1 && more <= 0
            ? "in the job \(first)"
            : "in the jobs \(jobs.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
    }

    /// Makes a message; the way to its place goes into the notes.
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

/// The stable ids of everything that is checked.
public enum Rule: String, Codable, Sendable, CaseIterable {
    /// The file can't be read.
    case fileUnreadable = "file-unreadable"
    /// The file is no valid YAML.
    case yamlSyntax = "yaml-syntax"
    /// A bound on size, depth or aliases is exceeded.
    case yamlLimit = "yaml-limit"
    /// A key stands twice in one mapping.
    case duplicateKey = "duplicate-key"
    /// A key that has no meaning there.
    case unknownKey = "unknown-key"
    /// A key that must be there is not.
    case missingKey = "missing-key"
    /// A mapping where a list is wanted, and the like.
    case wrongType = "wrong-type"
    /// A value that is not understood or not allowed.
    case invalidValue = "invalid-value"
    /// Keys that exclude each other.
    case conflictingKeys = "conflicting-keys"
    /// A name of an asset or job that is not defined.
    case undefinedName = "undefined-name"
    /// A name that is no identifier.
    case invalidName = "invalid-name"
    /// `${…}` that is not closed, or stands for itself.
    case substitution
    /// Settings that use each other.
    case settingsCycle = "settings-cycle"
    /// Files that include each other.
    case includeCycle = "include-cycle"
    /// An included file has jobs, which are not run from there.
    case includedJobs = "included-jobs"
    /// A matrix or a pattern that comes to too many runs.
    case fanOut = "fan-out"
    /// A pattern that matches no file.
    case noMatch = "no-match"
    /// A source is a URL, and the network is not allowed.
    case networkNotAllowed = "network-not-allowed"
    /// `--set` gives a variable that nothing has.
    case unusedVariable = "unused-variable"
    /// A chain of filters that can't be built, or has a filter that job files may not use.
    case filterChain = "filter-chain"
    /// Source tracks that no rule selects.
    case leftoverTrack = "leftover-track"
    /// Jobs that wait for each other.
    case dependencyCycle = "dependency-cycle"
    /// A part of the job language that this version doesn't have.
    case notSupported = "not-supported"
    /// A codec that there is not.
    case unknownCodec = "unknown-codec"
    /// An encoder that there is not.
    case unknownEncoder = "unknown-encoder"
    /// An encoder that this build doesn't have, or that doesn't open on this machine.
    case encoderMissing = "encoder-missing"
    /// A setting that the codec doesn't take.
    case codecSetting = "codec-setting"
    /// A setting was reduced to a limit of the codec that depends on the source.
    case codecLimit = "codec-limit"
    /// A private option that the encoder doesn't take.
    case encoderOption = "encoder-option"
    /// A container that there is not, or that can't be told from the name.
    case unknownContainer = "unknown-container"
    /// A codec or track that the container can't hold.
    case containerCodec = "container-codec"
    /// A setting that the container can't honour.
    case containerSetting = "container-setting"
    /// A source that is missing or can't be opened.
    case sourceUnreadable = "source-unreadable"
    /// A selection that matches no track.
    case noSuchTrack = "no-such-track"
    /// A source track that this build can't decode.
    case cannotDecode = "cannot-decode"
    /// A range of nothing, or beyond the end.
    case invalidRange = "invalid-range"
    /// A composition whose rate follows from a clip with a variable one.
    case variableRate = "variable-rate"
    /// A copy that the range doesn't allow.
    case copyRange = "copy-range"
    /// A source whose times are in an order that no copy can have.
    case sourceOrder = "source-order"
    /// The destination exists and is not Tandem's.
    case destinationExists = "destination-exists"
    /// The destination is a source.
    case destinationIsSource = "destination-is-source"
    /// Two outputs have one destination.
    case destinationCollision = "destination-collision"
    /// The destination's folder can't be written.
    case destinationUnwritable = "destination-unwritable"
    /// The disk has less room than the outputs are likely to need.
    case lowSpace = "low-space"
    /// A pattern matches what is made of its files.
    case patternTakesOutputs = "pattern-takes-outputs"
    /// A job failed while it ran.
    case jobFailed = "job-failed"
    /// An output was made, and something about it is for a person to know.
    case jobWarning = "job-warning"
    /// A job took longer than its `timeout`.
    case jobTimeout = "job-timeout"
    /// The process that did a job died.
    case workerDied = "worker-died"
    /// An output is not what `expect` says.
    case expectationFailed = "expectation-failed"
    /// An expectation that the plan contradicts.
    case expectationImpossible = "expectation-impossible"
}

extension Rule {
    /// What the rule is about, in a sentence without its end.
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
