package import LibAV
package import Media

/// A finished rendition of a package: one track with its segments.
package struct StreamingRendition: Codable, Hashable, Sendable {
    /// The output's id in the job file: `[A-Za-z_][A-Za-z0-9_-]*`. The rendition's files are in a folder of this name,
    /// so that ids of a package must differ in more than case.
    package var id: String
    /// Properties of the track's kind.
    package var kind: Kind
    /// `CODECS` of the track; nil for sidecar subtitles (WebVTT) and thumbnails.
    package var codec: CodecString?
    /// Language; nil if unknown.
    package var language: LanguageTag?
    /// Name that players show; nil for the language's name.
    package var title: String?
    /// Whether players choose the rendition if users state no preference.
    package var isDefault: Bool
    /// Purposes other than the main content.
    package var roles: Set<StreamingRole>
    /// Ticks per second of the track (`mdhd`); 1000 for subtitles and thumbnails.
    package var timescale: Int32
    /// Size of the initialization section (`ftyp`, `moov`) in bytes; 0 without one, as in transport
    /// streams.
    package var initializationSize: Int64
    /// Segments in order. Thumbnails have none, nor have subtitles that aren't divided
    /// (`StreamingPackage.dividesSubtitles`).
    package var segments: [StreamingSegment]

    package init(
        id: String, kind: Kind, codec: CodecString?, language: LanguageTag? = nil, title: String? = nil,
        isDefault: Bool = false, roles: Set<StreamingRole> = [], timescale: Int32,
        initializationSize: Int64, segments: [StreamingSegment]
    ) {
        (self.id, self.kind, self.codec, self.language) = (id, kind, codec, language)
        (self.title, self.isDefault, self.roles, self.timescale) = (title, isDefault, roles, timescale)
        (self.initializationSize, self.segments) = (initializationSize, segments)
    }

    /// The kind of the track with its properties.
    package enum Kind: Codable, Hashable, Sendable {
        case video(Video)
        case audio(Audio)
        /// WebVTT.
        case subtitles(Subtitles)
        /// Thumbnails for seeking.
        case thumbnails(ThumbnailSheet)
    }

    /// Properties of a video track.
    package struct Video: Codable, Hashable, Sendable {
        /// Width of the displayed frame in pixels, after rotation.
        package var width: Int
        /// Height of the displayed frame in pixels, after rotation.
        package var height: Int
        /// Sample aspect ratio; nil for square samples.
        package var sampleAspectRatio: Rational?
        /// Frames per second; nil for a variable or unknown rate.
        package var frameRate: Rational?
        /// Primaries, transfer, matrix and range.
        package var color: ColorDescription
        /// Dependencies at the beginning of segments.
        package var accessPoint: AccessPoint

        package init(
            width: Int, height: Int, sampleAspectRatio: Rational? = nil, frameRate: Rational?,
            color: ColorDescription = ColorDescription(), accessPoint: AccessPoint = .closed
        ) {
            (self.width, self.height, self.sampleAspectRatio) = (width, height, sampleAspectRatio)
            (self.frameRate, self.color, self.accessPoint) = (frameRate, color, accessPoint)
        }

        /// Size of the displayed frame with square pixels.
        var displaySize: (width: Int, height: Int) {
            guard let aspect = sampleAspectRatio, aspect.isPositive else { return (width, height) }
            let numerator = Int64(width) * Int64(aspect.num)
            return (Int((numerator + Int64(aspect.den) / 2) / Int64(aspect.den)), height)
        }
    }

    /// The type of the stream access point (SAP) at the beginning of each segment (ISO/IEC 14496-12, annex I).
    package enum AccessPoint: UInt8, Codable, Hashable, Sendable {
        /// The first frame in decoding order is the first one presented.
        case closed = 1
        /// Frames are decoded after the keyframe and presented before it, without references to earlier segments.
        case leading = 2
        /// Frames that are presented before the keyframe refer to the previous segment (open GOP).
        case open = 3
    }

    /// Properties of an audio track.
    package struct Audio: Codable, Hashable, Sendable {
        /// Samples per second that a decoder outputs.
        package var sampleRate: Int32
        /// Channels and their positions.
        package var layout: ChannelLayout

        package init(sampleRate: Int32, layout: ChannelLayout) {
            (self.sampleRate, self.layout) = (sampleRate, layout)
        }
    }

    /// Properties of a WebVTT rendition.
    package struct Subtitles: Codable, Hashable, Sendable {
        /// Size in bytes of the file with all cues.
        package var fileSize: Int64

        package init(fileSize: Int64) { self.fileSize = fileSize }
    }
}

extension StreamingRendition {
    /// Properties of a video track; nil for other kinds.
    var video: Video? {
        if case .video(let video) = kind { video } else { nil }
    }
    /// Properties of an audio track; nil for other kinds.
    var audio: Audio? {
        if case .audio(let audio) = kind { audio } else { nil }
    }
    /// Properties of subtitles; nil for other kinds.
    var subtitles: Subtitles? {
        if case .subtitles(let subtitles) = kind { subtitles } else { nil }
    }

    /// Properties of thumbnails; nil for other kinds.
    var thumbnails: ThumbnailSheet? {
        if case .thumbnails(let sheet) = kind { sheet } else { nil }
    }
    /// Whether the rendition is audio or video, in segments of a track.
    var isMedia: Bool { video != nil || audio != nil }

    /// Returns the ticks of a time in the track's timescale, rounded to the nearest.
    func ticks(_ time: MediaTime) -> Int64 { time.ticks(in: Rational(1, max(1, timescale))) }

    /// Times at which segments begin, in ticks, and the end of the last segment; empty without segments. Rounding
    /// errors don't accumulate, because each time is converted separately.
    var boundaries: [Int64] {
        guard let last = segments.last else { return [] }
        return segments.map { ticks($0.start) } + [ticks(last.start + last.duration)]
    }

    /// Presentation time of the first segment; nil without segments.
    var start: MediaTime? { segments.first?.start }
    /// Presentation time at which the last segment ends; nil without segments.
    package var end: MediaTime? { segments.last.map { $0.start + $0.duration } }
}
