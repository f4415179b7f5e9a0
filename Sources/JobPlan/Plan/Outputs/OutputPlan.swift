package import Diagnostics
package import JobSpec
public import LibAV
public import Media

/// The plan of one output of a job: a file, a set of image files, a folder, or the check of a source, which writes
/// nothing.
public struct OutputPlan: Hashable, Sendable {
    /// Id of the output under `outputs`; nil for the only output of a job.
    @Annotation public var id: String?
    /// Location of the output in the job file; the job's location if the output is described there.
    package var location: SourceRange
    /// Index of the job's input that the output reads.
    @Annotation package var input: Int = 0
    /// Name of the container; for a check, libavformat's name of the source's format.
    public var container: String
    /// Kind of the output, with the values that depend on it.
    package var kind: OutputKind
    /// Absolute path of the output; nil for a check.
    @Annotation public var destination: String?
    /// Location of the destination in the job file; for a check, the location of `check`.
    package var destinationLocation: SourceRange
    /// Handling of an existing file at the destination that Tandem did not publish.
    @Annotation package var ifExists: IfExists = .fail
    /// Whether missing folders are created.
    @Annotation package var makesDirectories: Bool = false
    /// Tracks of the output, in order. A package has none, as its renditions have the tracks.
    package var tracks: [TrackPlan]
    /// Expectations that the output must meet before it is published.
    @Annotation package var expectations: [Expectation] = []
    /// Account of all items of the source.
    @Annotation package var ledger: [LedgerEntry] = []
    /// Predicted duration of the output.
    @Annotation public var expectedDuration: MediaTime
    /// Predicted size in bytes; nil if it can't be predicted.
    @Annotation public var expectedSize: Int64?
    /// Notes for the user, such as about upscaling.
    @Annotation public var notes: [String] = []
    /// Warnings of the planner, which reports and later runs repeat.
    @Annotation package var warnings: [String] = []

    /// Tags of the file; empty unless the output has tracks in a container.
    public var metadata: [MetadataEntry] { media?.metadata ?? [] }

    /// Chapters of the file; empty unless the output has tracks in a container.
    public var chapters: [AssetChapter] { media?.chapters ?? [] }
}

/// The encoded form of an output. The values of `MediaPlan` stand beside those of the output, with defaults for other
/// kinds; the plan of each other kind is under a key of its own, at most one of which is present.
extension OutputPlan: Codable {
    /// Decodes an output. Throws `DecodingError` if it has several kinds (`Decodable`).
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        _id = try values.decode(Annotation<String?>.self, forKey: .id)
        _input = try values.decode(Annotation<Int>.self, forKey: .input)
        _destination = try values.decode(Annotation<String?>.self, forKey: .destination)
        _ifExists = try values.decode(Annotation<IfExists>.self, forKey: .ifExists)
        _makesDirectories = try values.decode(Annotation<Bool>.self, forKey: .makesDirectories)
        _expectations = try values.decode(Annotation<[Expectation]>.self, forKey: .expectations)
        _ledger = try values.decode(Annotation<[LedgerEntry]>.self, forKey: .ledger)
        _expectedSize = try values.decode(Annotation<Int64?>.self, forKey: .expectedSize)
        _notes = try values.decode(Annotation<[String]>.self, forKey: .notes)
        _warnings = try values.decode(Annotation<[String]>.self, forKey: .warnings)
        location = try values.decode(SourceRange.self, forKey: .location)
        container = try values.decode(String.self, forKey: .container)
        destinationLocation = try values.decode(SourceRange.self, forKey: .destinationLocation)
        tracks = try values.decode([TrackPlan].self, forKey: .tracks)
        _expectedDuration = try values.decode(Annotation<MediaTime>.self, forKey: .expectedDuration)
        kind = try OutputKind(from: values) ?? .media(MediaPlan(from: values))
    }

    /// Encodes the output (`Encodable`).
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try (media ?? .empty).encode(to: &values)
        try values.encode(_id, forKey: .id)
        try values.encode(_input, forKey: .input)
        try values.encode(_destination, forKey: .destination)
        try values.encode(_ifExists, forKey: .ifExists)
        try values.encode(_makesDirectories, forKey: .makesDirectories)
        try values.encode(_expectations, forKey: .expectations)
        try values.encode(_ledger, forKey: .ledger)
        try values.encode(_expectedSize, forKey: .expectedSize)
        try values.encode(_notes, forKey: .notes)
        try values.encode(_warnings, forKey: .warnings)
        try values.encode(location, forKey: .location)
        try values.encode(container, forKey: .container)
        try values.encode(destinationLocation, forKey: .destinationLocation)
        try values.encode(tracks, forKey: .tracks)
        try values.encode(_expectedDuration, forKey: .expectedDuration)
        try kind.encode(to: &values)
    }
}

extension OutputPlan {
    /// Returns what the value at a path in the encoded form belongs to.
    static func subject(of path: ArraySlice<String>) -> RecipeName.Subject {
        let rest = path.dropFirst()
        switch path.first.flatMap(CodingKeys.init(stringValue:)) {
        case .tracks:
            return rest.first.flatMap { Int($0) }.map { .track($0, TrackPlan.part(of: rest.dropFirst())) }
                ?? .other
        case .cover: return .cover
        case .package: return PackagePlan.subject(of: rest)
        default: return .other
        }
    }

    /// The files that are read in addition to the source, with their locations in the job file: cover and subtitles.
    var addedFiles: [(path: String, location: SourceRange)] {
        (media?.cover.map { [($0.path, $0.location)] } ?? [])
            + allTracks.flatMap(\.addedFiles).map { ($0.path, $0.location) }
    }

    /// Timecode of the output's first frame.
    package var timecode: String? {
        tracks.first { $0.source.mediaType == .video }?.metadata.first(where: \.isTimecode)?.value
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

    /// Whether text is drawn into the frames of a track.
    package var drawsText: Bool { encodings.contains { $0.burn?.isText == true } }

    /// Whether a track is encoded in chunks.
    package var hasChunks: Bool { encodings.contains { $0.encoder.chunk != nil } }

    package var hasTwoPasses: Bool { encodings.contains(where: \.hasTwoPasses) }

    private var encodings: [TrackPlan.Encoding] { allTracks.compactMap(\.encoding) }
}
