public import LibAV

/// Kind of presentation of a track (AVFoundation's `AVMediaCharacteristic`).
public enum MediaCharacteristic: String, Codable, Sendable, CaseIterable {
    /// Visible content.
    case visual
    /// Audible content.
    case audible
    /// Text: subtitles and captions.
    case legible
}

/// One edit of a track: the presented part of its media, and its duration (AVFoundation's `AVAssetTrackSegment`).
public struct TrackEdit: Hashable, Codable, Sendable {
    /// Start of the part in the track's media time; nil for an empty edit.
    public var mediaStart: MediaTime?
    /// Duration on the asset's time line.
    public var duration: MediaTime
}

/// A track of an asset (AVFoundation's `AVAssetTrack`), as a value.
public struct AssetTrack: Sendable {
    /// The properties that plans use, also available for predicted tracks.
    package private(set) var description: TrackDescription
    /// Codec parameters and sample format (AVFoundation's `formatDescriptions`).
    public let format: FormatDescription
    /// Duration of one audio sample, if the track's time base can't represent sample positions: Matroska's
    /// milliseconds, or a transport stream's 90 kHz. Otherwise nil; always nil for mp4 and mov.
    package let sampleTimeBase: Rational?
    /// End of the edit list, which the media may exceed; nil if no edit list limits the track.
    package let editEnd: MediaTime?
    /// Start of the presentation of a fragmented track, for which libavformat also returns the hidden packets before
    /// it; nil if none is declared, and for tracks of unfragmented files.
    package let editStart: MediaTime?
    /// Edits in order; empty if the container has no edit list.
    public let edits: [TrackEdit]
    /// Media time at which the presentation starts, in ticks, if a tag rather than an edit list declares it; the
    /// track's times count from there. Nil if no tag applies.
    package let mediaOrigin: Int64?
    /// Whether the index starts with packets that an edit list hides entirely.
    package let hidesFirstPackets: Bool
    /// Whether an edit list hides packets between presented ones, whose frames may refer to the hidden ones.
    package let hidesInnerPackets: Bool
    /// Whether decoding times don't increase, as with edits that repeat media or fragments that overlap, or exceed
    /// presentation times.
    package let isUnordered: Bool
    /// Shift of the timestamps of a track with reordered frames but without composition offsets
    /// (`LostCompositionTimes`), in its time base; nil if the container's presentation times are complete.
    let lostTimesShift: Int64?
    /// Whether some packets require other headers than the track's, as in concatenated files.
    package let changesHeaders: Bool
    /// Encoder delay that an MP3 file declares; nil in containers with edit lists, and if none is declared.
    package let hiddenStart: MediaTime?
    /// Tags of the track in the container.
    public let metadata: [MetadataEntry]
    /// Global side data, such as mastering display metadata.
    package let sideData: [StreamSideData]

    /// Creates a track of a source, and adds the states (`TrackState`) to its
    /// description.
    init(
        description: TrackDescription, format: FormatDescription, sampleTimeBase: Rational?,
        editEnd: MediaTime?, editStart: MediaTime?, edits: [TrackEdit], mediaOrigin: Int64?,
        summary: Demuxer.IndexSummary,
        changesHeaders: Bool, hiddenStart: MediaTime?, metadata: [MetadataEntry], sideData: [StreamSideData],
        lostTimesShift: Int64? = nil, beginsBeforeKeyframe: Bool = false, hasSecondView: Bool = false
    ) {
        var complete = description
        self.format = format
        self.sampleTimeBase = sampleTimeBase
        self.editEnd = editEnd
        self.editStart = editStart
        self.edits = edits
        self.mediaOrigin = mediaOrigin
        hidesFirstPackets = summary.leading > 0
        hidesInnerPackets = summary.inner > 0
        isUnordered = summary.isUnordered
        self.changesHeaders = changesHeaders
        self.lostTimesShift = lostTimesShift
        self.hiddenStart = hiddenStart
        self.metadata = metadata
        self.sideData = sideData
        let start = hiddenStart ?? edits.first { $0.mediaStart != nil }?.mediaStart
        let hidden = Self.hiddenPartOfPacket(format, start: start)
        complete.hiddenPartOfPacket = hidden > 0 ? hidden : nil
        let hidesBeginning =
            switch complete.mediaType {
            case .video: hidesFirstPackets
            case .audio:
                editStart != nil || (start ?? .zero) > .zero
                    || BitstreamTraits.of(format.codec).hasDelayInHeader
                        && format.parameters.initialPadding > 0
            default: false
            }
        let states: [(Bool, TrackProperty)] = [
            (hidesBeginning, .state(.hiddenBeginning)),
            (complete.mediaType == .video && hidesInnerPackets, .state(.hiddenInside)),
            (isUnordered, .state(.unordered)),
            (changesHeaders, .state(.changingHeaders)),
            (lostTimesShift != nil, .state(.lostTimes)),
            (beginsBeforeKeyframe, .state(.lateKeyframe)),
            (hasSecondView, .sideData(.secondView)),
        ]
        complete.sideData += states.compactMap { $0 ? $1 : nil }
        self.description = complete
    }

    /// Returns the track with another description, as a part of a source of several files.
    func described(by description: TrackDescription) -> AssetTrack {
        var track = self
        track.description = description
        return track
    }

    /// Index among all streams of the file.
    public var index: Int { description.index }
    /// Track ID of the container; 0 if it has none.
    public var trackID: Int { description.id }
    /// Media type of the samples.
    public var mediaType: MediaType { description.mediaType }
    /// Whether the track is cover art: not a video track, and never selected as one.
    public var isAttachedPicture: Bool { description.isAttachedPicture }
    /// Time base of the samples' times.
    public var timeBase: Rational { description.timeBase }
    /// Range on the asset's time line: exact if the asset's timing is precise, otherwise as the container declares it.
    public var timeRange: TimeRange { description.timeRange }
    /// Whether `timeRange` was measured, or comes from the container's index.
    public var isTimeRangeExact: Bool { description.isExact }
    /// Whether the end of `timeRange` is specific to the track; otherwise it is the end of the file.
    package var hasOwnDuration: Bool { description.hasOwnDuration }
    /// Number of presented samples; nil if only a measurement can determine it.
    public var sampleCount: Int? { description.sampleCount }
    /// Average frame rate in frames per second; nil if unknown.
    public var nominalFrameRate: Rational? { description.frameRate }
    /// Language code of the container, such as `eng`; nil if unspecified.
    public var languageCode: String? { description.language }
    /// Title from the container; nil if there is none. A handler name is a title unless it is a writer's default.
    public var title: String? { description.title }
    /// Rotation and reflection of frames for display; nil if the container declares none.
    public var preferredTransform: DisplayTransform? { description.transform }
    /// Dispositions by libavformat's names.
    public var disposition: Set<String> { Set(description.disposition) }
    /// Dolby Vision profile; nil for other video.
    package var dolbyVisionProfile: Int? { description.dolbyVisionProfile }
    /// Whether the start of the track is decoded but not presented: an encoder delay, or media before an
    /// edit.
    package var hidesBeginning: Bool { description.has(.hiddenBeginning) }
    /// Number of samples that an edit list hides in the first presented packet; 0 if it hides only whole
    /// packets, or none.
    package var hiddenPartOfPacket: Int { description.hiddenPartOfPacket ?? 0 }

    /// Characteristics of the track; empty for cover art, data and attachments.
    public var characteristics: Set<MediaCharacteristic> {
        switch mediaType {
        case .video: isAttachedPicture ? [] : [.visual]
        case .audio: [.audible]
        case .subtitle: [.legible, .visual]
        case .data, .attachment: []
        }
    }

    /// Whether only some packets of the audio can be decoded independently (TrueHD, MLP); up to 128 packets,
    /// a tenth of a second, depend on each of them.
    var hasSyncPackets: Bool { BitstreamTraits.of(format.codec).hasSyncPackets }

    /// Whether a copied range starts and ends at exact samples: uncompressed audio whose times can represent sample
    /// positions.
    package var isCutAtSamples: Bool {
        guard format.parameters.bytesPerFrame > 0 else { return false }
        return sampleTimeBase != nil || description.countsWholeSamples
    }

    /// Duration of audio that must be decoded before a position, in addition to the previous packet, for exact samples
    /// at that position.
    var preroll: MediaTime {
        guard mediaType == .audio else { return .zero }
        return MediaTime(value: BitstreamTraits.of(format.codec).preroll, timescale: 1000)
    }

    private static func hiddenPartOfPacket(_ format: FormatDescription, start: MediaTime?) -> Int {
        guard format.parameters.mediaType == .audio, format.parameters.frameSize > 0, format.sampleRate > 0,
            !BitstreamTraits.of(format.codec).hasDelayInHeader, let start, start > .zero
        else { return 0 }
        return Int(start.ticks(in: Rational(1, format.sampleRate))) % format.parameters.frameSize
    }

    /// The reference to the track in errors.
    public var reference: TrackReference {
        .source(index: index, isAttachedPicture ? .cover : .media(mediaType))
    }

    /// Display size with square pixels, after rotation.
    public var displaySize: (width: Double, height: Double) {
        let size = format.presentationSize
        return preferredTransform?.isQuarterTurn == true ? (size.height, size.width) : size
    }
}

extension AssetTrack {
    /// The value of `Demuxer.origins` for the track.
    var origins: [Int: Int64] { mediaOrigin.map { [index: $0] } ?? [:] }

    /// Average number of bits per pixel; 0 if bit rate, frame rate or size is unknown.
    var bitsPerPixel: Double {
        let pixels = Double(format.width) * Double(format.height) * (nominalFrameRate?.double ?? 0)
        return pixels > 0 ? Double(format.bitRate) / pixels : 0
    }

    /// Returns the number of threads for decoding in parallel with an encoder. In general it is half the processors:
    /// the encoder needs the others, and every thread holds another frame. At high bit rates, decoding costs as much as
    /// a fast encoder and would limit its speed, so the number is libavcodec's default.
    ///
    /// Seconds with one, two and three threads on two cores, 720p to x264 ultrafast: 3.45, 2.74, 2.31 at 28 Mbit/s;
    /// 2.03, 1.89, 1.81 at 7 Mbit/s.
    func decoderThreads(cores: Int) -> Int { bitsPerPixel < 0.2 ? max(1, cores / 2) : cores + 1 }
}
