public import LibAV

/// Loading status of a property (AVFoundation's `AVKeyValueStatus`).
public enum PropertyStatus: Sendable {
    /// Not requested yet.
    case unknown
    /// Loading in progress.
    case loading
    /// Available.
    case loaded
    /// Loading failed, with the reason.
    case failed(any Error)
    /// Cancelled by `cancelLoading()`.
    case cancelled
}

/// A property of an asset that is loaded on demand (AVFoundation's `AVAsyncProperty`).
public struct AssetProperty<Value: Sendable>: Sendable {
    let name: String
    let read: @Sendable (AssetContents) -> Value
}

extension AssetProperty where Value == MediaTime {
    /// Time from zero to the latest end of a video or audio track; of a subtitle track if the asset has no other
    /// tracks.
    public static var duration: AssetProperty {
        AssetProperty(name: "duration") { $0.duration }
    }
}
extension AssetProperty where Value == [AssetTrack] {
    /// All tracks in file order, including cover art.
    public static var tracks: AssetProperty {
        AssetProperty(name: "tracks") { $0.tracks }
    }
}
extension AssetProperty where Value == [MetadataEntry] {
    /// Metadata of the file as a whole.
    public static var metadata: AssetProperty {
        AssetProperty(name: "metadata") { $0.metadata }
    }
}
extension AssetProperty where Value == [AssetChapter] {
    /// Chapters on the asset's time line.
    public static var chapters: AssetProperty {
        AssetProperty(name: "chapters") { $0.chapters }
    }
}
extension AssetProperty where Value == DisplayTransform? {
    /// Rotation and reflection of the first video track; nil without video, or if the container declares none.
    public static var preferredTransform: AssetProperty {
        AssetProperty(name: "preferredTransform") { contents in
            contents.tracks.first { $0.mediaType == .video && !$0.isAttachedPicture }?.preferredTransform
        }
    }
}
extension AssetProperty where Value == AssetContents {
    /// All properties in one value.
    public static var contents: AssetProperty {
        AssetProperty(name: "contents") { $0 }
    }
}

/// A chapter on the asset's time line.
public struct AssetChapter: Hashable, Codable, Sendable {
    /// Start and end on the asset's time line.
    public var timeRange: TimeRange
    /// Title from the container; nil if the chapter has none.
    public var title: String?
    /// Creates a chapter with a range on the asset's time line; nil for a chapter without a title.
    public init(timeRange: TimeRange, title: String?) {
        self.timeRange = timeRange
        self.title = title
    }
}

extension [AssetChapter] {
    /// Returns the chapters that start before `end`, each ending at `end` at the latest; all chapters if `end` is nil.
    package func ending(at end: MediaTime?) -> [AssetChapter] {
        guard let end else { return self }
        return filter { $0.timeRange.start < end }.map {
            AssetChapter(
                timeRange: TimeRange(start: $0.timeRange.start, end: Swift.min($0.timeRange.end, end)),
                title: $0.title)
        }
    }
}

/// All properties of a loaded asset.
public struct AssetContents: Sendable {
    /// libavformat's name of the container; `pattern`, `images` or `composition` for other sources than files.
    public let container: String
    /// Properties of the container.
    package var demuxer: DemuxerModel { .named(container) }
    /// File size in bytes; 0 if the source isn't a file.
    public let fileSize: Int64
    /// Number of bytes missing from a truncated file. Only Matroska declares its size; in other containers truncation
    /// is detected while reading.
    public let missingBytes: Int64
    /// All tracks in file order, including cover art.
    public let tracks: [AssetTrack]
    /// Time from zero to the latest end of a video or audio track; of a subtitle track if the asset has no other
    /// tracks.
    public let duration: MediaTime
    /// Whether `duration` was measured or comes from an index that covers the whole file; otherwise it is an
    /// estimate.
    public let isDurationExact: Bool
    /// Timestamp in the file that corresponds to time zero of the asset: the earliest start, unless the container's
    /// times start at zero (mp4, mov, Matroska).
    package let timeZero: MediaTime
    /// Metadata of the file as a whole.
    public let metadata: [MetadataEntry]
    /// Chapters on the asset's time line.
    public let chapters: [AssetChapter]

    /// Returns the tracks of a media type, without cover art.
    public func tracks(of type: MediaType) -> [AssetTrack] {
        tracks.filter { $0.mediaType == type && !$0.isAttachedPicture }
    }

    /// The timecode of the first frame: from a video track, otherwise from any track, otherwise from the file; nil if
    /// there is none.
    public var timecode: String? {
        let tags = tracks(of: .video).map(\.metadata) + tracks.map(\.metadata) + [metadata]
        return tags.lazy.compactMap { $0.first(where: \.isTimecode)?.value }.first
    }

    /// Returns the tracks with a characteristic; cover art has none.
    public func tracks(with characteristic: MediaCharacteristic) -> [AssetTrack] {
        tracks.filter { $0.characteristics.contains(characteristic) }
    }
}
