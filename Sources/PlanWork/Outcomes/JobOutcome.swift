package import Diagnostics
public import Errors
internal import JobPlan
internal import JobSpec
package import LibAV
public import Media
package import Streaming

/// The outcome of a job.
public enum JobOutcome: Sendable {
    /// The outputs were published. Outputs that were already up to date are unchanged.
    case succeeded(JobResult)
    /// All outputs were up to date: created by the same plan and unchanged since.
    case upToDate
    /// The job had nothing to do; the value is the reason.
    case skipped(String)
    /// The output was created, or had been created by an earlier run, and doesn't meet the job's condition for publishing it;
    /// the value is the reason.
    case declined(String)
    /// The job failed; none of its outputs were published.
    case failed(JobFailure)
    /// The job was cancelled; none of its outputs were published.
    case cancelled
    /// The job was not started; the value is the reason.
    case notRun(String)

    /// Whether the job succeeded, was up to date, was skipped, or declined its output.
    public var isSuccess: Bool {
        switch self {
        case .succeeded, .upToDate, .skipped, .declined: true
        case .failed, .cancelled, .notRun: false
        }
    }

    /// Returns the previews of the job's outputs, by output name.
    package func previews(ofJob id: String) -> [String: JobPreview] {
        switch self {
        case .succeeded(let result):
            var previews: [String: JobPreview] = [:]
            for output in result.outputs {
                previews[OutputName(job: id, output: output.id).description] = output.preview
            }
            return previews
        case .failed(let failure): return failure.preview.map { [id: $0] } ?? [:]
        default: return [:]
        }
    }

    /// Whether an output has a preview.
    package var hasPreview: Bool {
        switch self {
        case .succeeded(let result): result.outputs.contains { $0.preview != nil }
        case .failed(let failure): failure.preview != nil
        default: false
        }
    }

    /// Whether all outputs that the job published were taken from a cache.
    package var isFromCache: Bool {
        guard case .succeeded(let result) = self, !result.outputs.isEmpty else { return false }
        return result.outputs.allSatisfy(\.isFromCache)
    }

    /// Whether all outputs were up to date.
    public var isUpToDate: Bool { if case .upToDate = self { true } else { false } }
}

/// The published outputs of a job, or the result of a check.
public struct JobResult: Sendable {
    /// Outputs that this run created, in the plan's order.
    public var outputs: [OutputResult]
    /// Reasons for skipped outputs, by output id. An output is skipped if another file is at its destination.
    public var skipped: [String: String] = [:]
    /// Wall-clock duration of the job in seconds.
    public var seconds: Double

    /// Warnings of all outputs, in the plan's order.
    public var warnings: [String] { outputs.flatMap(\.warnings) }

    package init(outputs: [OutputResult], skipped: [String: String] = [:], seconds: Double) {
        self.outputs = outputs
        self.skipped = skipped
        self.seconds = seconds
    }
}

/// An output that was created and published, or a check that a source passed.
public struct OutputResult: Sendable {
    /// The output's id in the job file; nil for the only output of a job.
    public var id: String?
    /// Absolute path of the output; nil for a check, which writes nothing.
    public var destination: String?
    /// Size in bytes; 0 for a check.
    public var size: Int64
    /// `TemporaryFile.fingerprint` of the published output; for a check, the digest of its plan.
    package var output: String
    /// Duration of the output's media.
    public var duration: MediaTime
    /// Reports on the output's tracks.
    public var tracks: [TrackReport]
    /// Warnings for the user, such as dropped samples.
    public var warnings: [String]
    /// Expectations of the job file, each with its measured value.
    public var expectations: [ExpectationResult] = []
    /// Loudness of the tracks with `normalize`, before and after.
    public var loudness: [Normalization] = []
    /// Bit rates that were tried for `target_size` with the sizes that they reached, in order; empty without one.
    public var sizeAttempts: [SizeAttempt] = []
    /// Probes and encodes for `quality` of video; nil without it.
    package var quality: Quality?
    /// Preview for the report; nil if the report shows none.
    package var preview: JobPreview?
    /// Whether the output was taken from a cache (`tandem run --cache`) instead of being created.
    public var isFromCache = false
    /// The part that depends on the output's kind.
    package var detail: Detail

    /// The part of a result that depends on the output's kind.
    package enum Detail: Sendable {
        /// No further part: tracks in a container, a waveform or a check.
        case plain
        /// The images of an image output, in order.
        case images([Image])
        /// Manifests and renditions of a package.
        case package(PackageSummary)
    }

    /// Still images of an image output; empty for other outputs.
    public var images: [Image] { if case .images(let images) = detail { images } else { [] } }

    package init(
        id: String?, destination: String?, size: Int64, output: String, duration: MediaTime,
        tracks: [TrackReport], warnings: [String], expectations: [ExpectationResult] = [],
        loudness: [Normalization] = [], sizeAttempts: [SizeAttempt] = [], quality: Quality? = nil,
        preview: JobPreview? = nil, detail: Detail = .plain
    ) {
        self.id = id
        self.destination = destination
        self.size = size
        self.output = output
        self.duration = duration
        self.tracks = tracks
        self.warnings = warnings
        self.expectations = expectations
        self.loudness = loudness
        self.sizeAttempts = sizeAttempts
        self.quality = quality
        self.preview = preview
        self.detail = detail
    }

    /// A still image that an image output contains.
    public struct Image: Codable, Sendable {
        /// Requested time, on the source's time line.
        public var requested: MediaTime
        /// Presentation time of the frame, on the source's time line.
        public var actual: MediaTime
        /// Absolute path of the image file; nil if one file contains all images.
        public var path: String?

        package init(requested: MediaTime, actual: MediaTime, path: String?) {
            self.requested = requested
            self.actual = actual
            self.path = path
        }
    }

    /// An encode of an output with `target_size`.
    public struct SizeAttempt: Hashable, Codable, Sendable {
        /// Bit rate of the video track, in bits per second.
        public var bitRate: Int64
        /// Size of the file in bytes.
        public var size: Int64

        package init(bitRate: Int64, size: Int64) {
            self.bitRate = bitRate
            self.size = size
        }
    }

    /// Probes and encodes of an output with `quality` of video, in order.
    package struct Quality: Hashable, Codable, Sendable {
        package struct Attempt: Hashable, Codable, Sendable {
            package var crf: Double
            /// Similarity that was measured: SSIM, or PSNR in dB; 200 for equal frames.
            package var value: Double
            /// Number of windows that were encoded; nil for the whole track.
            package var windows: Int? = nil

            /// `crf` for the user, such as `crf 21.5`.
            fileprivate var name: String { "crf \(ThousandthsText.text(Int((crf * 1000).rounded())))" }
        }
        package var metric: SimilarityMetric
        package var pool: SimilarityPool
        /// Similarity that the job sets, in the unit of the metric.
        package var target: Double
        /// Accepted difference from `target`.
        package var within: Double
        /// Encodes of windows of the source.
        package var probes: [Attempt]
        /// Encodes of the whole track; the last one was published.
        package var encodes: [Attempt]

        /// Whether all values are possible. Checked for results from untrusted input.
        package var isValid: Bool {
            probes.count <= QualityFit.maximumProbes && encodes.count <= QualityFit.maximumEncodes
                && ([target, within] + (probes + encodes).map(\.value)).allSatisfy((0...200).contains)
                && (probes + encodes).allSatisfy {
                    (0...63).contains($0.crf) && (1...TargetQuality.maximumWindows).contains($0.windows ?? 1)
                }
        }

        /// Probes and encodes for the user, such as
        /// `probes crf 23: 0.981 (5 windows), crf 21.5: 0.9849 (16 windows); file crf 21.5: 0.9852`.
        package var text: String {
            func list(_ attempts: [Attempt]) -> String {
                attempts.map {
                    "\($0.name): \(metric.text($0.value))"
                        + ($0.windows.map { " (\(counted($0, "window")))" } ?? "")
                }.joined(separator: ", ")
            }
            return "probes \(list(probes))" + (encodes.isEmpty ? "" : "; file \(list(encodes))")
        }

        /// The similarity over `crf`, a line for each probe and encode: `o` marks a probe and `x` a file in a row from the lowest to
        /// the highest value, in which brackets enclose the accepted values.
        package var curve: [String] {
            let attempts =
                (probes.map { (mark: "o", of: $0.windows.map { "\(counted($0, "window"))" } ?? "probe", $0) }
                + encodes.map { (mark: "x", of: "file", $0) }).sorted { $0.2.crf < $1.2.crf }
            let bounds = (target - within, target + within)
            // Equal frames have an infinite PSNR, which is at the end of the row.
            let shown = attempts.map(\.2.value).filter { $0 < metric.identity } + [bounds.0, bounds.1]
            guard let lowest = shown.min(), let highest = shown.max(), lowest < highest else { return [] }
            func column(_ value: Double) -> Int {
                Int((min(1, (value - lowest) / (highest - lowest)) * 36).rounded()) + 1
            }
            return attempts.map { mark, extent, attempt in
                var row = [String](repeating: "·", count: 39)
                row[column(bounds.0) - 1] = "["
                row[column(bounds.1) + 1] = "]"
                row[column(attempt.value)] = mark
                return
                    "\(PlanText.pad(attempt.name, 10)) \(row.joined()) \(PlanText.pad(metric.text(attempt.value), 8)) \(extent)"
            }
        }
    }

    /// The loudness of one track before and after normalization.
    public struct Normalization: Codable, Sendable {
        /// Index of the track in the output.
        public var track: Int
        /// Loudness of the source, in EBU R 128 terms.
        public var before: Loudness
        /// Loudness of the output, in EBU R 128 terms.
        public var after: Loudness
    }
}

/// The reason why a job failed, with its location in the job file.
public struct JobFailure: TandemError, Codable {
    /// Reason for the failure, in one line.
    public var message: String
    /// The kind of the failure.
    public var kind: ErrorKind
    /// Location in the job file that the failure concerns.
    package var location: SourceRange
    /// Rule of the failure; nil if no rule describes it.
    package var rule: Rule?
    /// Whether the failure is transient, such as a server that doesn't respond, so that a retry may succeed.
    public var isTransient: Bool
    /// Expectations with their measured values, if an unmet expectation caused the failure.
    package var expectations: [ExpectationResult] = []
    /// Sentence endings that state whether outputs with unmet expectations were kept, by output id; the key is empty
    /// for the only output of a job.
    package var keptNotes: [String: String] = [:]
    /// Preview of an output with unmet expectations.
    package var preview: JobPreview?

    /// Messages with their rules and locations: one for each unmet expectation at its own line, or one for any other
    /// failure.
    package var diagnostics: [(rule: Rule, message: String, location: SourceRange)] {
        let failed = expectations.filter { !$0.holds }
        guard rule == .expectationFailed, let first = failed.first else {
            return [(rule ?? .jobFailed, message, location)]
        }
        // The note of an output is reported once.
        var reported: Set<String> = []
        return ([first] + failed.dropFirst()).map { one in
            let output = one.output ?? ""
            let isNew = reported.insert(output).inserted
            return (
                .expectationFailed, one.message + (isNew ? keptNotes[output] ?? "" : ""),
                one.expectation.location
            )
        }
    }

    /// The reason in one line.
    public var description: String { message }

    /// Creates a failure at a location in the job file. The rule determines its kind by default.
    package init(
        _ message: String, at location: SourceRange, rule: Rule? = nil, kind: ErrorKind? = nil,
        isTransient: Bool = false
    ) {
        self.message = message
        self.kind = kind ?? rule?.errorKind ?? .failed
        self.location = location
        self.rule = rule
        self.isTransient = isTransient
    }
}
