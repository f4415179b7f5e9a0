package import LibAV
package import Media

extension DemuxerModel {
    /// Returns the demuxer of a container, by its own or by libavformat's name.
    package static func reading(_ container: String) -> DemuxerModel {
        ContainerType.named(container)?.model.demuxer ?? .named(container)
    }
}

/// The description of a source that planning uses: probed, or predicted from the plan of the job that creates it.
///
/// Tracks, tags and chapters are annotations, because the source's identity, which a digest includes, determines them.
package struct SourceDescription: Codable, Hashable, Sendable {
    /// Container format by libavformat's name.
    package var container: String
    /// Size of the file in bytes; 0 if it doesn't exist yet.
    package var fileSize: Int64
    /// Duration from time zero to the end of the last track.
    package var duration: MediaTime
    package var isDurationExact: Bool
    /// Number of bytes that a truncated file lacks, compared with its declared size.
    package var missingBytes: Int64
    /// Time zero on the file's own clock.
    package var timeZero: MediaTime
    /// Tracks in the order of the file.
    @Annotation package var tracks: [TrackDescription]
    @Annotation package var metadata: [MetadataEntry]
    /// Timecode of the first frame, such as `01:00:00:00`.
    package var timecode: String?
    @Annotation package var chapters: [AssetChapter]

    /// Creates a description of a probed asset. Numbers out of range are clamped.
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

    /// Whether the duration is only estimated: the file doesn't contain it, and it was not measured.
    var isDurationGuessed: Bool { !isDurationExact && demuxer.estimatesDurations }

    /// Properties of the container when it is read.
    package var demuxer: DemuxerModel { .reading(container) }

    /// Returns whether a copy of a track's audio starts and ends with a range, exact to the sample
    /// (`AssetTrack.isCutAtSamples`).
    func isCutAtSamples(_ track: TrackDescription) -> Bool {
        guard BitstreamTraits.of(track.codec).isCutAtSamples else { return false }
        return !demuxer.isMovie || track.countsWholeSamples
    }

    /// Creates the predicted description of an output.
    init(predictedBy task: OutputTask) {
        let plan = task.output
        container = plan.container
        fileSize = 0
        duration = plan.expectedDuration
        isDurationExact = task.isPredictedExactly
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
                result.sideData = track.sideData.map(TrackProperty.sideData)
                if !track.sideData.contains(.dolbyVision) { result.dolbyVisionProfile = nil }
                result.cleanAperture = nil
                if case .subtitle(let codec) = track.action {
                    result.codec = codec.libavName
                    result.timeBase = Rational(1, 1000)
                }
                guard case .encode(let encoding) = track.action else { return result }
                let encoder = encoding.encoder
                result.codec = encoding.codec
                result.profile = nil
                result.bitRate = encoder.bitRate ?? 0
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
                        && Self.keepsFrameDurations(track.source, task.input.extent.ranges)
                result.sampleRate = encoder.sampleRate
                result.sampleFormat = encoder.sampleFormat
                result.channelLayout = encoder.channelLayout
                return result
            } + Self.attachments(of: task)
    }

    /// Returns whether ranges of a track with a constant frame rate begin and are joined between frames. Otherwise the
    /// frame on screen at the start of a range is shown for a shorter time than the others.
    private static func keepsFrameDurations(_ track: TrackDescription, _ ranges: [TimeRange]) -> Bool {
        guard let frame = track.frameRate?.inverted else { return ranges.isEmpty }
        func isBetweenFrames(_ time: MediaTime) -> Bool {
            time.ticks(in: frame, rounding: .down) == time.ticks(in: frame, rounding: .up)
        }
        return ranges.allSatisfy { isBetweenFrames($0.start) }
            && ranges.dropLast().allSatisfy { isBetweenFrames($0.end) }
    }

    /// Returns the output's attachments, which follow its tracks.
    private static func attachments(of task: OutputTask) -> [TrackDescription] {
        (task.output.media?.attachments ?? []).enumerated().compactMap { position, index in
            guard var track = task.input.sourceDescription.tracks.first(where: { $0.index == index }) else {
                return nil
            }
            track.index = task.output.tracks.count + position
            track.id = track.index + 1
            return track
        }
    }

    /// Sets the language of the audio and subtitle tracks that state none.
    mutating func setLanguage(_ language: String) {
        for index in tracks.indices where tracks[index].language == nil {
            guard [.audio, .subtitle].contains(tracks[index].mediaType) else { continue }
            tracks[index].language = language
        }
    }

    /// Returns the tracks of a type. Covers are excluded from video tracks, timecode and mp4's chapter tracks
    /// from data tracks: they are copied separately.
    package func tracks(of type: MediaType) -> [TrackDescription] {
        tracks.filter {
            $0.mediaType == type && !$0.isAttachedPicture && !$0.isTimecode && !$0.isChapterText
        }
    }
}
