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
    /// Its index among all streams of the file.
    public let index: Int
    /// The container's id of it, 0 where it has none.
    public let trackID: Int
    /// Its kind.
    public let mediaType: MediaType
    /// A cover or poster: not a video track, and never selected as one.
    public let isAttachedPicture: Bool
    /// What its samples are.
    public let format: FormatDescription
    /// The unit of its samples' times.
    public let timeBase: Rational
    /// One sample of audio, where the unit is not fit to say when each begins, and no edit list counts in it: Matroska's
    /// milliseconds, or a transport stream's 90,000ths.
    public let sampleTimeBase: Rational?
    /// Where it lies on the asset's time line. Exact when the asset's timing is precise, as the
    /// container says otherwise.
    public let timeRange: TimeRange
    /// `timeRange` was measured, or stands in the container's index.
    public let isTimeRangeExact: Bool
    /// Its end is its own, not the file's.
    public let hasOwnDuration: Bool
    /// The end that its edit list sets, which media may run past; nil where there is none.
    public let editEnd: MediaTime?
    /// Where a fragmented track begins to be shown, of which libavformat gives what is hidden before as well; nil where
    /// that isn't said, and of tracks in one piece.
    public let editStart: MediaTime?
    /// Its edits, in order; empty where the container has none.
    public let edits: [TrackEdit]
    /// Its index begins with packets that an edit list hides as a whole.
    public let hidesFirstPackets: Bool
    /// What is shown needs packets that an edit list hides, which come between those that are shown.
    public let hidesInnerPackets: Bool
    /// The decoding times in its index don't increase: edits that repeat media, fragments that overlap.
    public let isUnordered: Bool
    /// Some of its packets stand under other headers than its own: files were joined.
    public let changesHeaders: Bool
    /// What a file of MP3 says of its encoder's delay; nil in containers that have edit lists or nothing.
    public let hiddenStart: MediaTime?
    /// How many samples are shown; nil where only a measurement could tell.
    public let sampleCount: Int?
    /// Average frames per second.
    public let nominalFrameRate: Rational?
    /// The language as the container says (`eng`), nil where unspecified.
    public let languageCode: String?
    /// The track's name.
    public let title: String?
    /// How to rotate its frames.
    public let preferredTransform: DisplayTransform?
    /// Dispositions by libav's names.
    public let disposition: Set<String>
    /// Its tags.
    public let metadata: [MetadataEntry]
    /// Global side data (mastering display and the like).
    public let sideData: [StreamSideData]

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
    var hasSyncPackets: Bool { ["truehd", "mlp"].contains(format.codec) }

    /// How long before a time decoding must begin for its audio to be right there, beside the packet before.
    var preroll: MediaTime {
        guard mediaType == .audio else { return .zero }
        let milliseconds: Int64 =
            switch format.codec {
            case _ where hasSyncPackets: 150
            case "opus": 80
            // Packets take bytes out of those before them: 511, which may be many small ones.
            case "mp3": 250
            default: 25
            }
        return MediaTime(value: milliseconds, timescale: 1000)
    }

    /// Something of its beginning is decoded and not heard or shown: an encoder's delay, or what an edit list hides.
    public var hidesBeginning: Bool {
        if mediaType == .video { return hidesFirstPackets }
        guard mediaType == .audio else { return false }
        return editStart != nil || (hiddenStart ?? .zero) > .zero
            || edits.first { $0.mediaStart != nil }?.mediaStart.map { $0 > .zero } == true
            || format.codec == "opus" && format.parameters.initialPadding > 0
    }

    /// Samples of the packet that is heard first which an edit list hides; 0 where it hides whole packets or none.
    public var hiddenPartOfPacket: Int {
        guard mediaType == .audio, format.parameters.frameSize > 0, format.sampleRate > 0,
            format.codec != "opus",
            let start = hiddenStart ?? edits.first(where: { $0.mediaStart != nil })?.mediaStart, start > .zero
        else { return 0 }
        return Int(start.ticks(in: Rational(1, format.sampleRate))) % format.parameters.frameSize
    }

    /// The profile of its Dolby Vision: the third byte of its configuration record.
    public var dolbyVisionProfile: Int? {
        sideData.first { $0.kind == "dovi" }.flatMap { $0.bytes.count > 2 ? Int($0.bytes[2]) : nil }
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
