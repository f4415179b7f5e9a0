package import Diagnostics
internal import JobPlan
internal import JobSpec
public import Media

/// How a job ended.
public enum JobOutcome: Sendable {
    /// Its outputs are published; those that were up to date stayed as they were.
    case succeeded(JobResult)
    /// Its outputs were made by just this before, and nobody touched them since.
    case upToDate
    /// Nothing was to be done, and why.
    case skipped(String)
    /// It failed; nothing of it is left.
    case failed(JobFailure)
    /// It was cancelled; nothing of it is left.
    case cancelled
    /// It was not started, and why.
    case notRun(String)

    /// Nothing is wrong.
    public var isSuccess: Bool {
        switch self {
        case .succeeded, .upToDate, .skipped: true
        case .failed, .cancelled, .notRun: false
        }
    }

    /// What a report shows of the outputs, by their names.
    func previews(ofJob id: String) -> [String: JobPreview] {
        switch self {
        case .succeeded(let result):
            var previews: [String: JobPreview] = [:]
            for output in result.outputs {
                previews[OutputTask.name(job: id, output: output.id)] = output.preview
            }
            return previews
        case .failed(let failure): return failure.preview.map { [id: $0] } ?? [:]
        default: return [:]
        }
    }

    /// A report shows something of its outputs.
    var hasPreview: Bool {
        switch self {
        case .succeeded(let result): result.outputs.contains { $0.preview != nil }
        case .failed(let failure): failure.preview != nil
        default: false
        }
    }

    /// Its outputs were up to date.
    public var isUpToDate: Bool { if case .upToDate = self { true } else { false } }
}

/// What a job published.
public struct JobResult: Sendable {
    /// The outputs that were made, in the plan's order.
    public var outputs: [OutputResult]
    /// Outputs that were left out since somebody else's file is where they would go, and why; by their ids.
    public var skipped: [String: String] = [:]
    /// Wall-clock seconds that it took.
    public var seconds: Double

    /// Things that a person should know, of all outputs.
    public var warnings: [String] { outputs.flatMap(\.warnings) }
}

/// An output that was made and published.
public struct OutputResult: Sendable {
    /// Its id; nil for the only one of a job.
    public var id: String?
    /// The absolute path.
    public var destination: String
    /// Bytes.
    public var size: Int64
    /// Size and time of the output as it was published, as one word.
    package var output: String
    /// How long the output lasts.
    public var duration: MediaTime
    /// What was done with each track.
    public var tracks: [TrackReport]
    /// Things that a person should know, such as samples left out.
    public var warnings: [String]
    /// What was expected and measured.
    public var expectations: [JudgedExpectation] = []
    /// Tracks whose loudness was changed.
    public var loudness: [Normalization] = []
    /// What a report shows of it, where it is to.
    package var preview: JobPreview?

    /// Its stills.
    public var stills: [Still] = []

    /// A still that was made.
    public struct Still: Codable, Sendable {
        /// The time that was asked for, on the source's time line.
        public var requested: MediaTime
        /// When the frame comes on screen, on the source's.
        public var actual: MediaTime
        /// The absolute path of its file; nil where all are one.
        public var path: String?
    }

    /// What was measured of a track before, and what comes of it.
    public struct Normalization: Codable, Sendable {
        /// The output's track.
        public var track: Int
        /// As the source has it.
        public var before: Loudness
        /// As the output has it.
        public var after: Loudness
    }
}

/// Why a job failed, and which part of the job file asked for it.
public struct JobFailure: Error, Codable, Sendable {
    /// The reason in one line.
    public var message: String
    /// The part of the job file.
    package var location: SourceRange
    /// A stable rule, where a rule says it.
    package var rule: Rule?
    /// It can pass by itself, such as a server that doesn't answer: worth another attempt.
    public var isTransient: Bool
    /// What was expected and measured, where that is why it failed.
    package var expectations: [JudgedExpectation] = []
    /// What became of outputs that are not as expected, as the ends of sentences, by their ids; empty for the only one.
    package var kept: [String: String] = [:]
    /// What a report shows of an output that is not as expected.
    package var preview: JobPreview?

    /// What to say of it and where: each expectation that failed at its own line, anything else at once.
    package var diagnostics: [(rule: Rule, message: String, location: SourceRange)] {
        let failed = expectations.filter { !$0.holds }
        guard rule == .expectationFailed, let first = failed.first else {
            return [(rule ?? .jobFailed, message, location)]
        }
        // What was kept of an output is said once.
        var told: Set<String> = []
        return ([first] + failed.dropFirst()).map { one in
            let output = one.output ?? ""
            let isNew = told.insert(output).inserted
            return (
                .expectationFailed, one.message + (isNew ? kept[output] ?? "" : ""), one.expectation.location
            )
        }
    }

    /// Makes a failure.
    package init(_ message: String, at location: SourceRange, rule: Rule? = nil, isTransient: Bool = false) {
        self.message = message
        self.location = location
        self.rule = rule
        self.isTransient = isTransient
    }
}
