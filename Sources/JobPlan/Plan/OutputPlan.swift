package import Diagnostics
package import JobSpec
public import LibAV
public import Media

/// One output of a job: a file that is published, or several images.
public struct OutputPlan: Codable, Hashable, Sendable {
    /// Its id under `outputs`; nil for the only one of a job.
    public var id: String?
    /// Its place in the file: the job's, where that describes it.
    package var location: SourceRange
    /// Which of the job's inputs it is made of.
    package var input: Int
    /// The container's name.
    public var container: String
    /// The index goes to the front.
    package var optimizesForNetwork: Bool
    /// How long the file's fragments are; nil for a file in one piece.
    package var fragmentInterval: MediaTime?
    /// The output's tags.
    public var metadata: [MetadataEntry]
    /// The keys among them that the job sets, in lower case: without them there is no output, without a source's own a
    /// warning.
    package var askedTags: [String] = []
    /// The output's file is as old as the source's.
    package var keepsFileTimes = false
    /// The output's chapters.
    public var chapters: [AssetChapter]
    /// Covers that go along, by their tracks in the source.
    package var covers: [Int]
    /// Files that go along, by their tracks in the source.
    package var attachments: [Int]
    /// The absolute path of the output.
    public var destination: String
    /// Where the destination was written.
    package var destinationLocation: SourceRange
    /// What happens to somebody else's file there.
    package var ifExists: IfExists
    /// Missing folders are made.
    package var makesDirectories: Bool
    /// The output's tracks in order.
    package var tracks: [TrackPlan]
    /// The still images; nil where the output isn't images. With `waveform` the coded form of `kind`, which sets both.
    package internal(set) var images: ImagesPlan?
    /// The waveform; nil where the output isn't one.
    var waveform: WaveformPlan?
    /// What must hold of the output before it is published.
    package var expectations: [Expectation]
    /// What becomes of everything in the source.
    package var ledger: [LedgerEntry]
    /// How long the output will be.
    public var expectedDuration: MediaTime
    /// Bytes that it will have, about; nil where nobody can say.
    public var expectedSize: Int64?
    /// Bytes that it has at most: it ends where no more fits.
    package var sizeLimit: Int64?
    /// Where that was written.
    package var sizeLimitLocation: SourceRange?
    /// Things worth knowing, such as scaling up.
    public var notes: [String]
}

extension OutputPlan {
    /// The time of day of the output's first frame.
    package var timecode: String? {
        tracks.first { $0.source.mediaType == .video }?.metadata.first { $0.key == "timecode" }?.value
    }

    /// The same work without what is there for people: a short message to whoever does it.
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

    /// An output that is there can be judged by what is expected now: all that was read is what the plan says.
    package var isJudgedAgain: Bool { sizeLimit == nil }

    /// One of its tracks is looked at once before it is encoded.
    package var hasTwoPasses: Bool {
        tracks.contains { if case .encode(let encoding) = $0.action { encoding.hasTwoPasses } else { false } }
    }
}
