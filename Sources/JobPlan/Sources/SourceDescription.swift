package import LibAV
package import Media

/// What a plan knows of a source: probed, or foretold from the plan of the job that makes it.
package struct SourceDescription: Codable, Hashable, Sendable {
    /// libavformat's name of the container.
    package var container: String
    /// Bytes of the file; 0 where none is there yet.
    package var fileSize: Int64
    /// From time zero to the end of the last track.
    package var duration: MediaTime
    /// `duration` is exact.
    package var isDurationExact: Bool
    /// Bytes that the file says it has and hasn't: of a truncated one.
    package var missingBytes: Int64
    /// Time zero on the file's own clock.
    package var timeZero: MediaTime
    /// Its tracks in file order.
    package var tracks: [TrackDescription]
    /// Its tags.
    package var metadata: [MetadataEntry]
    /// The time of day of its first frame: `01:00:00:00`.
    package var timecode: String?
    /// Its chapters.
    package var chapters: [AssetChapter]

    /// What an asset was found to be. Numbers that can't be are brought to their bounds.
    package init(_ contents: AssetContents) {
        container = contents.container
        fileSize = contents.fileSize
        duration = max(.zero, contents.duration.bounded)
        isDurationExact = contents.isDurationExact && contents.missingBytes == 0
        missingBytes = contents.missingBytes
        timeZero = contents.timeZero.bounded
        metadata = contents.metadata
        timecode = contents.timecode
        chapters = contents.chapters.map {
            AssetChapter(timeRange: $0.timeRange.bounded, title: $0.title)
        }
        tracks = contents.tracks.map(\.description)
    }

    /// Nothing in the file says how long it is, and it was not measured.
    var isDurationGuessed: Bool { !isDurationExact && SourceContainer(container).guessesLengths }

    /// A copy of a track's audio begins and ends with a range, to the sample (`AssetTrack.isCutAtSamples`).
    func isCutAtSamples(_ track: TrackDescription) -> Bool {
        guard BitstreamTraits.of(track.codec).isCutAtSamples else { return false }
        return !SourceContainer(container).isMovie || track.countsWholeSamples
    }

    /// What an output will be.
    init(foretoldBy task: OutputTask) {
        let plan = task.output
        container = plan.container
        fileSize = 0
        duration = plan.expectedDuration
        isDurationExact = plan.tracks.allSatisfy(\.expected.isExact)
        missingBytes = 0
        timeZero = .zero
        metadata = plan.metadata
        timecode = plan.timecode
        chapters = plan.chapters
        tracks =
            plan.tracks.enumerated().map { index, track in
                var result = track.source
                result.index = index
                result.id = index + 1
                result.transform = track.transform
                result.disposition = track.disposition
                result.language = track.metadata.first { $0.key == "language" }?.value
                result.title =
                    track.metadata.first { $0.key == "title" || $0.key == "handler_name" }?.value
                result.tags = track.metadata
                result.timeRange = track.expected.timeRange
                result.isExact = track.expected.isExact
                result.sampleCount = track.expected.frames
                result.sideData = track.sideData
                if !track.sideData.contains("dovi") { result.dolbyVisionProfile = nil }
                result.cleanAperture = nil
                if case .subtitle(let codec) = track.action {
                    result.codec = codec.libavName
                    result.timeBase = Rational(1, 1000)
                }
                guard case .encode(let encoding) = track.action else { return result }
                let encoder = encoding.encoder
                result.codec = encoding.codec
                result.isDecodable = true
                result.isLossless = false
                result.timeBase = encoder.timeBase
                result.width = encoder.width
                result.height = encoder.height
                result.pixelFormat = encoder.pixelFormat
                result.pixelAspectRatio = encoder.sampleAspectRatio
                result.frameRate = encoder.frameRate
                result.hasConstantFrameRate =
                    encoding.video?.frameRate != nil
                    || track.source.hasConstantFrameRate && track.expected.isExact
                result.sampleRate = encoder.sampleRate
                result.sampleFormat = encoder.sampleFormat
                result.channelLayout = encoder.channelLayout
                return result
            } + Self.attachments(of: task)
    }

    /// Attachments come after the tracks.
    private static func attachments(of task: OutputTask) -> [TrackDescription] {
        task.output.attachments.enumerated().compactMap { position, index in
            guard var track = task.input.sourceDescription.tracks.first(where: { $0.index == index }) else {
                return nil
            }
            track.index = task.output.tracks.count + position
            track.id = track.index + 1
            return track
        }
    }

    /// Tracks of a kind; covers are no video tracks, and data are neither timecode nor mp4's chapters, which go along in
    /// their own ways.
    package func tracks(of type: MediaType) -> [TrackDescription] {
        tracks.filter {
            $0.mediaType == type && !$0.isAttachedPicture && !$0.isTimecode
                && (type != .data || $0.codec != "text")
        }
    }
}
