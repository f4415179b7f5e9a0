package import Diagnostics
package import JobSpec
public import LibAV
public import Media

/// The plan of one output of a job: a file, a set of image files, or the check of a source, which writes nothing.
public struct OutputPlan: Codable, Hashable, Sendable {
    /// Id of the output under `outputs`; nil for the only output of a job.
    @Annotation public var id: String?
    /// Location of the output in the job file; the job's location if the output is described there.
    package var location: SourceRange
    /// Index of the job's input that the output reads.
    @Annotation package var input: Int
    /// Name of the container; for a check, libavformat's name of the source's format.
    public var container: String
    /// Whether the index is written at the beginning of the file (fast start).
    package var optimizesForNetwork: Bool
    /// Duration of the file's fragments; nil for an unfragmented file.
    package var fragmentInterval: MediaTime?
    /// Division into segments; nil unless the output is a rendition of a package.
    package var segmentation: SegmentationPlan?
    /// Tags of the output.
    public var metadata: [MetadataEntry]
    /// Keys of the tags that the job sets, in lower case. If one of them is missing in the finished file, the job fails;
    /// a missing tag of the source is only a warning.
    @Annotation package var askedTags: [String] = []
    /// Whether the output's file receives the modification time of the source's.
    package var keepsFileTimes = false
    /// Chapters of the output.
    public var chapters: [AssetChapter]
    /// Covers to copy, by their track indices in the source.
    package var covers: [Int]
    /// Cover from an image file, in place of `covers`; nil for none.
    package var cover: CoverPlan?
    /// Attachments to copy, by their track indices in the source.
    package var attachments: [Int]
    /// Absolute path of the output; nil for a check.
    @Annotation public var destination: String?
    /// Location of the destination in the job file; for a check, the location of `check`.
    package var destinationLocation: SourceRange
    /// Handling of an existing file at the destination that Tandem did not publish.
    @Annotation package var ifExists: IfExists
    /// Whether missing folders are created.
    @Annotation package var makesDirectories: Bool
    /// Tracks of the output, in order.
    package var tracks: [TrackPlan]
    /// Still images; nil unless `kind` is `images`. The properties `images`, `waveform`, `check` and `package` are the
    /// encoded form of `kind`, which sets them.
    package internal(set) var images: ImagesPlan?
    /// Waveform; nil unless `kind` is `waveform`.
    var waveform: WaveformPlan?
    /// Check; nil unless `kind` is `check`.
    var check: CheckPlan?
    /// Package; nil unless `kind` is `package`.
    package internal(set) var package: PackagePlan?
    /// Expectations that the output must meet before it is published.
    @Annotation package var expectations: [Expectation]
    /// Account of all items of the source.
    @Annotation package var ledger: [LedgerEntry]
    /// Predicted duration of the output.
    public var expectedDuration: MediaTime
    /// Predicted size in bytes; nil if it can't be predicted.
    @Annotation public var expectedSize: Int64?
    /// Maximum size in bytes, at which the output ends; nil without a limit.
    package var sizeLimit: Int64?
    /// Location of the size limit in the job file.
    package var sizeLimitLocation: SourceRange?
    /// Notes for the user, such as about upscaling.
    @Annotation public var notes: [String]
}

extension OutputPlan {
    /// Timecode of the output's first frame.
    package var timecode: String? {
        tracks.first { $0.source.mediaType == .video }?.metadata.first { $0.key == "timecode" }?.value
    }

    /// The output without data that is only displayed to the user, to keep the message to a worker short.
    var bare: OutputPlan {
        var output = self
        (output.ledger, output.notes) = ([], [])
        for index in output.tracks.indices {
            output.tracks[index].source.tags = []
            guard case .encode(var encoding) = output.tracks[index].action else { continue }
            encoding.settings = []
            output.tracks[index].action = .encode(encoding)
        }
        return output
    }

    /// Whether new expectations of an existing output can be evaluated without creating it again. An output
    /// with a size limit may have ended early, so the plan doesn't determine the range that it contains. A check
    /// has no output and reads its source again. A package no longer contains the files that were evaluated.
    package var isReevaluable: Bool { sizeLimit == nil && !isCheck && package == nil }

    package var hasTwoPasses: Bool {
        allTracks.contains { track in
            if case .encode(let encoding) = track.action { encoding.hasTwoPasses } else { false }
        }
    }
}
