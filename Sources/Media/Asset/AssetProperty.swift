public import LibAV

/// Where the loading of a property stands (AVFoundation's `AVKeyValueStatus`).
public enum PropertyStatus: Sendable {
    /// Nobody asked for it yet.
    case unknown
    /// Being loaded.
    case loading
    /// There.
    case loaded
    /// Loading failed, with the reason.
    case failed(any Error)
    /// `cancelLoading()` came first.
    case cancelled
}

/// A property of an asset that is loaded on demand (AVFoundation's `AVAsyncProperty`).
public struct AssetProperty<Value: Sendable>: Sendable {
    let name: String
    let read: @Sendable (AssetContents) -> Value
}

extension AssetProperty where Value == MediaTime {
    /// From time zero to the end of the last track.
    public static var duration: AssetProperty {
        AssetProperty(name: "duration") { $0.duration }
    }
}
extension AssetProperty where Value == [AssetTrack] {
    /// All tracks, covers included, in file order.
    public static var tracks: AssetProperty {
        AssetProperty(name: "tracks") { $0.tracks }
    }
}
extension AssetProperty where Value == [MetadataEntry] {
    /// The file's own tags.
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
    /// How to rotate the frames of the first video track.
    public static var preferredTransform: AssetProperty {
        AssetProperty(name: "preferredTransform") { contents in
            contents.tracks.first { $0.mediaType == .video && !$0.isAttachedPicture }?.preferredTransform
        }
    }
}
extension AssetProperty where Value == AssetContents {
    /// Everything at once.
    public static var contents: AssetProperty {
        AssetProperty(name: "contents") { $0 }
    }
}

/// A chapter on the asset's time line.
public struct AssetChapter: Hashable, Codable, Sendable {
    /// Where it lies.
    public var timeRange: TimeRange
    /// Its title, where it has one.
    public var title: String?
    /// Makes a chapter.
    public init(timeRange: TimeRange, title: String?) {
        self.timeRange = timeRange
        self.title = title
    }
}

extension [AssetChapter] {
    /// Those of an output that ends early, if it does; the last one ends with it.
    public func ending(at end: MediaTime?) -> [AssetChapter] {
        guard let end else { return self }
        return filter { $0.timeRange.start < end }.map {
            AssetChapter(
                timeRange: TimeRange(start: $0.timeRange.start, end: Swift.min($0.timeRange.end, end)),
                title: $0.title)
        }
    }
}

/// All that is known of an asset once it is loaded.
public struct AssetContents: Sendable {
    /// libavformat's name of the container; `pattern` for a test pattern.
    public let container: String
    /// The size of the file, 0 for a test pattern.
    public let fileSize: Int64
    /// Bytes that the file says it has and hasn't: of a truncated one. Only Matroska says it; in other containers it shows
    /// when the file is read.
    public let missingBytes: Int64
    /// All tracks, covers included, in file order.
    public let tracks: [AssetTrack]
    /// From time zero to the end of the last track.
    public let duration: MediaTime
    /// `duration` was measured or stands in an index that covers the file; an estimate otherwise.
    public let isDurationExact: Bool
    /// Time zero on the file's own clock.
    public let timeZero: MediaTime
    /// The file's own tags.
    public let metadata: [MetadataEntry]
    /// Its chapters.
    public let chapters: [AssetChapter]

    /// Tracks of a kind; covers are no video tracks.
    public func tracks(of type: MediaType) -> [AssetTrack] {
        tracks.filter { $0.mediaType == type && !$0.isAttachedPicture }
    }

    /// The time of day of the first frame, as the frames' track says it, else any track, else the file.
    public var timecode: String? {
        let tags = tracks(of: .video).map(\.metadata) + tracks.map(\.metadata) + [metadata]
        return tags.lazy.compactMap { $0.first { $0.key.lowercased() == "timecode" }?.value }.first
    }

    /// Tracks that are good for something.
    public func tracks(with characteristic: MediaCharacteristic) -> [AssetTrack] {
        tracks.filter { $0.characteristics.contains(characteristic) }
    }
}
