import LibAV
import Media
import Streaming

/// Renditions for tests, with sizes that follow from their numbers.
enum Fixtures {
    /// Returns contiguous segments of these durations in ticks. `rate` is the average bit rate; segments are alternately
    /// 10% larger and smaller.
    static func segments(
        _ durations: [Int64], timescale: Int32, rate: Int64, start: Int64 = 0, hasKeyframes: Bool = false
    ) -> [StreamingSegment] {
        var time = start
        return durations.enumerated().map { index, duration in
            defer { time += duration }
            let size = rate * duration / Int64(timescale) / 8
            return StreamingSegment(
                start: MediaTime(value: time, timescale: timescale),
                duration: MediaTime(value: duration, timescale: timescale),
                size: size * (index % 2 == 0 ? 11 : 9) / 10,
                keyframe: hasKeyframes ? ByteRange(offset: 24, length: size / 5) : nil)
        }
    }

    /// H.264 at 29.97 frames/s: three segments of 6.006 s, and one of 2.002 s.
    static func video(
        _ id: String, width: Int, height: Int, rate: Int64, codec: String = "avc1.64001f",
        color: ColorDescription = .standard, durations: [Int64] = [180_180, 180_180, 180_180, 60_060]
    ) -> StreamingRendition {
        StreamingRendition(
            id: id,
            kind: .video(
                .init(width: width, height: height, frameRate: Rational(30000, 1001), color: color)),
            codec: CodecString(codec), timescale: 30_000, initializationSize: 800,
            segments: segments(durations, timescale: 30_000, rate: rate, hasKeyframes: true))
    }

    /// AAC with frames of 1024 samples at 48 kHz, in segments as close to 6.006 s as frames allow.
    static func audio(
        _ id: String, language: String?, title: String? = nil, rate: Int64 = 128_000,
        codec: String = "mp4a.40.2", layout: String = "stereo", isDefault: Bool = false,
        roles: Set<StreamingRole> = [], durations: [Int64] = [288_768, 287_744, 288_768, 95_232]
    ) -> StreamingRendition {
        StreamingRendition(
            id: id,
            kind: .audio(
                .init(sampleRate: 48_000, layout: ChannelLayout(named: layout) ?? .stereo)),
            codec: CodecString(codec), language: language.flatMap { LanguageTag($0) }, title: title,
            isDefault: isDefault, roles: roles, timescale: 48_000, initializationSize: 700,
            segments: segments(durations, timescale: 48_000, rate: rate))
    }

    /// WebVTT in segments of 6.006 s.
    static func subtitles(
        _ id: String, language: String?, title: String? = nil, isDefault: Bool = false,
        roles: Set<StreamingRole> = [], isDivided: Bool = true
    ) -> StreamingRendition {
        StreamingRendition(
            id: id, kind: .subtitles(.init(fileSize: 2000)), codec: nil,
            language: language.flatMap { LanguageTag($0) }, title: title, isDefault: isDefault, roles: roles,
            timescale: 1000, initializationSize: 0,
            segments: isDivided ? segments([6006, 6006, 6006, 2002], timescale: 1000, rate: 800) : [])
    }

    /// A sheet of 3 x 2 thumbnails, one for each 4 s.
    static func thumbnails(_ id: String, format: ThumbnailSheet.Format = .jpeg) -> StreamingRendition {
        StreamingRendition(
            id: id,
            kind: .thumbnails(
                ThumbnailSheet(
                    format: format, columns: 3, rows: 2, width: 160, height: 90,
                    interval: MediaTime(value: 4, timescale: 1), fileSize: 12_000)),
            codec: nil, timescale: 1000, initializationSize: 0, segments: [])
    }

    static func package(
        _ renditions: [StreamingRendition], files: PackageFiles = .many,
        formats: [StreamingFormat] = [.hls, .dash], container: SegmentContainer = .mp4,
        variants: [StreamingVariant] = []
    ) -> StreamingPackage {
        StreamingPackage(
            formats: formats, files: files, container: container,
            segmentDuration: MediaTime(value: 6, timescale: 1),
            renditions: renditions, variants: variants)
    }

    /// A rendition in a transport stream: without an initialization section, with keyframes behind the tables.
    static func transport(_ rendition: StreamingRendition) -> StreamingRendition {
        var rendition = rendition
        (rendition.timescale, rendition.initializationSize) = (90_000, 0)
        for index in rendition.segments.indices { rendition.segments[index].keyframe?.offset = 376 }
        return rendition
    }

    static var hdr10: ColorDescription {
        var color = ColorDescription()
        (color.primaries, color.transfer, color.matrix) = ("bt2020", "smpte2084", "bt2020nc")
        color.range = .limited
        return color
    }

    /// Renditions that start at 10 s, with all roles, and with videos that can't be in one adaptation set.
    static var accessible: StreamingPackage {
        var color = ColorDescription()
        (color.primaries, color.transfer, color.matrix) = ("smpte170m", "smpte170m", "smpte170m")
        var narrow = video("narrow", width: 720, height: 576, rate: 2_000_000, color: color)
        narrow.kind = .video(
            .init(
                width: 720, height: 576, sampleAspectRatio: Rational(64, 45), frameRate: nil, color: color,
                accessPoint: .open))
        var renditions = [
            video("wide", width: 640, height: 360, rate: 900_000), narrow,
            video(
                "aligned-otherwise", width: 640, height: 360, rate: 700_000,
                durations: [120_120, 240_240, 180_180, 60_060]),
            audio("main", language: "pt-br", codec: "mp4a.6B"),
            audio("described", language: "pt-br", codec: "mp4a.6B", roles: [.description]),
            audio("clear", language: "pt-br", codec: "mp4a.6B", roles: [.clearSpeech, .dub]),
            audio("octo", language: nil, codec: "opus", layout: "8 channels"),
            subtitles("easy", language: "pt-br", roles: [.easyReader]),
        ]
        let offset = MediaTime(value: 10, timescale: 1)
        for rendition in renditions.indices {
            for index in renditions[rendition].segments.indices {
                let start = renditions[rendition].segments[index].start
                renditions[rendition].segments[index].start = start + offset
            }
        }
        return package(renditions)
    }

    /// Packages of the golden files by name.
    static let packages: [String: StreamingPackage] = {
        let ladder = [
            video("hd", width: 1280, height: 720, rate: 3_000_000),
            video("sd", width: 854, height: 480, rate: 1_200_000, codec: "avc1.64001e"),
        ]
        let languages = [
            audio("en", language: "eng", isDefault: true), audio("de", language: "ger"),
            audio("talk", language: "eng", title: "Director & \"Crew\"", roles: [.commentary]),
            audio("en51", language: "eng", rate: 384_000, codec: "ac-3", layout: "5.1(side)"),
        ]
        let texts = [
            subtitles("t-en", language: "en", roles: [.captions]),
            subtitles("t-de", language: "de", isDefault: true),
            subtitles("t-forced", language: "en", roles: [.forced]),
        ]
        return [
            "many": package(ladder + languages + texts),
            "single": package(
                ladder + [languages[0]] + [subtitles("t", language: "fr", isDivided: false)], files: .single),
            "transport": package(
                (ladder + languages.prefix(2)).map(transport) + [texts[0], thumbnails("previews")],
                formats: [.hls], container: .ts),
            "transport-single": package(
                [transport(ladder[0]), transport(languages[0])]
                    + [subtitles("t", language: "fr", isDivided: false)], files: .single, formats: [.hls],
                container: .ts),
            "thumbnails": package(
                [ladder[0], languages[0], thumbnails("previews")]),
            "thumbnails-single": package(
                [ladder[0], thumbnails("previews", format: .png)], files: .single),
            "audio": package([
                audio("high", language: "eng", rate: 256_000), audio("low", language: "eng", rate: 64_000),
            ]),
            "video": package([ladder[1]]),
            "accessible": accessible,
            "hdr": package(
                [
                    video(
                        "uhd", width: 3840, height: 2160, rate: 16_000_000, codec: "hvc1.2.4.L150.B0",
                        color: hdr10), ladder[0], languages[0],
                ],
                variants: [
                    StreamingVariant(video: "uhd", audio: "en"), StreamingVariant(video: "hd", audio: "en"),
                    StreamingVariant(video: nil, audio: "en"),
                ]),
        ]
    }()
}
