public import LibAV

/// What a track is good for (AVFoundation's `AVMediaCharacteristic`).
public enum MediaCharacteristic: String, Codable, Sendable, CaseIterable {
    /// Can be seen.
    case visual
    /// Can be heard.
    case audible
    /// Can be read: subtitles and captions.
    case legible
}

/// One edit of a track: which part of its media is shown, and for how long (AVFoundation's `AVAssetTrackSegment`).
public struct TrackEdit: Hashable, Codable, Sendable {
    /// Where the media begins, in the track's own time; nil for an empty edit.
    public var mediaStart: MediaTime?
    /// How long it lasts on the asset's time line.
    public var duration: MediaTime
}

/// A track of an asset (AVFoundation's `AVAssetTrack`), as a value.
public struct AssetTrack: Sendable {
    /// What a plan knows of it too.
    public let description: TrackDescription
    /// What its samples are.
    public let format: FormatDescription
    /// One sample of audio, where the unit is not fit to say when each begins, and no edit list counts in it: Matroska's
    /// milliseconds, or a transport stream's 90,000ths.
    public let sampleTimeBase: Rational?
    /// The end that its edit list sets, which media may run past; nil where there is none.
    public let editEnd: MediaTime?
    /// Where a fragmented track begins to be shown, of which libavformat gives what is hidden before as well; nil where
    /// that isn't said, and of tracks in one piece.
    public let editStart: MediaTime?
    /// Its edits, in order; empty where the container has none.
    public let edits: [TrackEdit]
    /// The time in its media at which its presentation begins, in ticks, where a tag says so and no edit list: its times count from there.
    public let mediaOrigin: Int64?
    /// Its index begins with packets that an edit list hides as a whole.
    public let hidesFirstPackets: Bool
    /// What is shown needs packets that an edit list hides, which come between those that are shown.
    public let hidesInnerPackets: Bool
    /// The decoding times in its index don't increase: edits that repeat media, fragments that overlap.
    public let isUnordered: Bool
    /// By how much packets move that have no composition offsets although frames are reordered (`LostCompositionTimes`), in the track's
    /// time base; nil where presentation times are as the container has them.
    let lostTimesShift: Int64?
    /// Some of its packets stand under other headers than its own: files were joined.
    public let changesHeaders: Bool
    /// What a file of MP3 says of its encoder's delay; nil in containers that have edit lists or nothing.
    public let hiddenStart: MediaTime?
    /// Its tags, as they stand at the track.
    public let metadata: [MetadataEntry]
    /// Global side data (mastering display and the like).
    public let sideData: [StreamSideData]

    /// A track of a source; what a plan must know of the rest is added to its description.
    init(
        description: TrackDescription, format: FormatDescription, sampleTimeBase: Rational?,
        editEnd: MediaTime?, editStart: MediaTime?, edits: [TrackEdit], mediaOrigin: Int64?,
        summary: Demuxer.IndexSummary,
        changesHeaders: Bool, hiddenStart: MediaTime?, metadata: [MetadataEntry], sideData: [StreamSideData],
        lostTimesShift: Int64? = nil, beginsBeforeKeyframe: Bool = false, hasSecondView: Bool = false
    ) {
        var told = description
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
        told.hiddenPartOfPacket = hidden > 0 ? hidden : nil
        let hidesBeginning =
            switch told.mediaType {
            case .video: hidesFirstPackets
            case .audio:
                editStart != nil || (start ?? .zero) > .zero
                    || BitstreamTraits.of(format.codec).hasDelayInHeader
                        && format.parameters.initialPadding > 0
            default: false
            }
        let states = [
            (hidesBeginning, TrackDescription.hiddenBeginning),
            (told.mediaType == .video && hidesInnerPackets, TrackDescription.hiddenInside),
            (isUnordered, TrackDescription.unordered),
            (changesHeaders, TrackDescription.changingHeaders),
            (lostTimesShift != nil, TrackDescription.lostTimes),
            (beginsBeforeKeyframe, TrackDescription.lateKeyframe),
            (hasSecondView, TrackDescription.secondView),
        ]
        told.sideData += states.compactMap { $0 ? $1 : nil }
        self.description = told
    }

    /// Its index among all streams of the file.
    public var index: Int { description.index }
    /// The container's id of it, 0 where it has none.
    public var trackID: Int { description.id }
    /// Its kind.
    public var mediaType: MediaType { description.mediaType }
    /// A cover or poster: not a video track, and never selected as one.
    public var isAttachedPicture: Bool { description.isAttachedPicture }
    /// The unit of its samples' times.
    public var timeBase: Rational { description.timeBase }
    /// Where it lies on the asset's time line. Exact when the asset's timing is precise, as the
    /// container says otherwise.
    public var timeRange: TimeRange { description.timeRange }
    /// `timeRange` was measured, or stands in the container's index.
    public var isTimeRangeExact: Bool { description.isExact }
    /// Its end is its own, not the file's.
    public var hasOwnDuration: Bool { description.hasOwnDuration }
    /// How many samples are shown; nil where only a measurement could tell.
    public var sampleCount: Int? { description.sampleCount }
    /// Average frames per second.
    public var nominalFrameRate: Rational? { description.frameRate }
    /// The language as the container says (`eng`), nil where unspecified.
    public var languageCode: String? { description.language }
    /// The track's name.
    public var title: String? { description.title }
    /// How to rotate its frames.
    public var preferredTransform: DisplayTransform? { description.transform }
    /// Dispositions by libav's names.
    public var disposition: Set<String> { Set(description.disposition) }
    /// The profile of its Dolby Vision.
    public var dolbyVisionProfile: Int? { description.dolbyVisionProfile }
    /// Something of its beginning is decoded and not heard or shown: an encoder's delay, or what an edit list hides.
    public var hidesBeginning: Bool { description.sideData.contains(TrackDescription.hiddenBeginning) }
    /// Samples of the packet that is heard first which an edit list hides; 0 where it hides whole packets or none.
    public var hiddenPartOfPacket: Int { description.hiddenPartOfPacket ?? 0 }

    /// What it is good for.
    public var characteristics: Set<MediaCharacteristic> {
        switch mediaType {
        case .video: isAttachedPicture ? [] : [.visual]
        case .audio: [.audible]
        case .subtitle: [.legible, .visual]
        case .data, .attachment: []
        }
    }

    /// Not every packet of its audio can be decoded by itself: up to 128 of them, a tenth of a second, follow one that can.
    var hasSyncPackets: Bool { BitstreamTraits.of(format.codec).hasSyncPackets }

    /// Packets of a range begin and end with it, to the sample: samples as they are, which their times count.
    package var isCutAtSamples: Bool {
        guard format.parameters.bytesPerFrame > 0 else { return false }
        return sampleTimeBase != nil || description.countsWholeSamples
    }

    /// How long before a time decoding must begin for its audio to be right there, beside the packet before.
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

    /// `video 0`-like name for messages, by position among the tracks of its kind.
    public var label: String { "track \(index) (\(isAttachedPicture ? "cover" : mediaType.rawValue))" }

    /// Size as shown: presentation size, rotated by the transform.
    public var displaySize: (width: Double, height: Double) {
        let size = format.presentationSize
        return preferredTransform?.isQuarterTurn == true ? (size.height, size.width) : size
    }
}

extension AssetTrack {
    /// `mediaOrigin` as a demuxer is told it.
    var origins: [Int: Int64] { mediaOrigin.map { [index: $0] } ?? [:] }

    /// How many bits a pixel of its video has, about; 0 where its rates are not known.
    var bitsPerPixel: Double {
        let pixels = Double(format.width) * Double(format.height) * (nominalFrameRate?.double ?? 0)
        return pixels > 0 ? Double(format.bitRate) / pixels : 0
    }

    /// Threads that suit its decoder beside an encoder. Half the processors mostly: the encoder needs the others, and every
    /// thread holds a frame more. Where packets are large, decoding costs as much as a quick encoder does and would pace it: as
    /// many as libavcodec takes by itself (two cores, 720p of 28 Mbit/s to x264 ultrafast, seconds of one, two, three threads: 3.45,
    /// 2.74, 2.31; at 7 Mbit/s 2.03, 1.89, 1.81).
    func decoderThreads(cores: Int) -> Int { bitsPerPixel < 0.2 ? max(1, cores / 2) : cores + 1 }
}
