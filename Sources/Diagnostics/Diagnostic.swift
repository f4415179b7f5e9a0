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

    /// Makes a message.
    public init(
        _ severity: Severity, _ rule: Rule, _ message: String, at range: SourceRange, notes: [Note] = [],
        help: String? = nil, isEnvironment: Bool = false
    ) {
        self.severity = severity
        self.rule = rule
        self.message = message
        self.range = range
        self.notes = notes
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
    /// Jobs that wait for each other.
    case dependencyCycle = "dependency-cycle"
    /// A part of the job language that this version doesn't have.
    case notSupported = "not-supported"
    /// A codec that there is not.
    case unknownCodec = "unknown-codec"
    /// A codec that this build can't encode.
    case encoderMissing = "encoder-missing"
    /// A setting that the codec doesn't take.
    case codecSetting = "codec-setting"
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
    /// A copy that the range doesn't allow.
    case copyRange = "copy-range"
    /// The destination exists and is not Tandem's.
    case destinationExists = "destination-exists"
    /// The destination is a source.
    case destinationIsSource = "destination-is-source"
    /// Two outputs have one destination.
    case destinationCollision = "destination-collision"
    /// The destination's folder can't be written.
    case destinationUnwritable = "destination-unwritable"
    /// A job failed while it ran.
    case jobFailed = "job-failed"
}
