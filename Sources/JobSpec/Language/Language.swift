internal import LibAV
internal import Media

/// The job language, version 1: all keys with their types and meanings. The decoder's validation of keys, the schema
/// and the reference are derived from this table.
package enum Language {
    /// The required value of `version`.
    package static let version = 1

    static let pattern = MappingType(
        "patternAsset", "a test signal", "A generated test signal: moving frames and a tone.",
        keys: [
            KeyInfo("pattern", .word(TestPattern.sources.map(\.name)), "The test pattern.", required: true),
            KeyInfo("size", patternSize, "Size in pixels; both even.", default: "1280x720"),
            KeyInfo("frame_rate", frameRate, "Frames per second.", default: "25"),
            KeyInfo(
                "duration", length(upToADay, suchAs: "10s"), "Duration, up to \(upToADay.upper).",
                default: "10s"),
            KeyInfo("tone", tone, "Frequency of the tone; no audio by default."),
        ])
    static let imagesAsset = MappingType(
        "imagesAsset", "an image sequence", "A sequence of numbered images, one for each frame.",
        keys: [
            KeyInfo(
                "images", imagesPath,
                "Path with a placeholder for the number: `render/%05d.png` for at least five digits, `%d` for any number of digits. All numbers from the lowest to the highest must exist.",
                required: true),
            KeyInfo("frame_rate", frameRate, "Frames per second.", required: true),
        ])
    static let imageAsset = MappingType(
        "imageAsset", "an image", "An image that is shown for a duration.",
        keys: [
            KeyInfo(
                "image", .string(mayBeEmpty: false), "Path, relative to the job file that names it.",
                required: true),
            KeyInfo(
                "duration", length(upToADay, suchAs: "5s"), "Duration, up to \(upToADay.upper).",
                required: true),
            KeyInfo("frame_rate", frameRate, "Frames per second.", default: "25"),
        ])
    static let playlistAsset = MappingType(
        "playlistAsset", "a streaming package",
        "A streaming package on disk (HLS or DASH), whose renditions are the tracks of one source: the variant with the highest bandwidth, with all audio and subtitles of its groups. Files outside of the folder of the playlist are not read. Not in compositions.",
        keys: [
            KeyInfo(
                "playlist", .string(mayBeEmpty: false),
                "Path of a multivariant or media playlist, or of an MPD, relative to the job file that names it.",
                required: true),
            timing,
        ])
    static let fileAsset = MappingType(
        "fileAsset", "a file asset", "A media file.",
        keys: [
            KeyInfo(
                "path", .string(mayBeEmpty: false),
                "Path, relative to the job file that names it; a pattern (`*`, `?`, `[…]`, `**`) runs the job once for each match. Beside one of these, `{a,b}` stands for `a` and `b`.",
                required: true),
            timing,
            KeyInfo(
                "language", languageTag,
                "Language of the audio and subtitle tracks for which the file states none."),
        ], shortForm: "path")
    /// A file with subtitles, beside the source of a job. Patterns aren't expanded.
    static let subtitleFile = MappingType(
        "subtitleFile", "a subtitle file", "A file with subtitles.",
        keys: [
            KeyInfo(
                "path", .string(mayBeEmpty: false), "Path, relative to the job file that names it.",
                required: true),
            KeyInfo("language", languageTag, "Language of the tracks for which the file states none."),
        ], shortForm: "path")
    static let pathsAsset = MappingType(
        "pathsAsset", "an asset of several files", "Media files; the job runs once for each.",
        keys: [
            KeyInfo(
                "paths", .list(.string(mayBeEmpty: false), atMost: maxPaths),
                "Paths and patterns (`*`, `?`, `[…]`, `**`), relative to the job file that names them; `{a,b}` stands for `a` and `b`. Files are in the order of the list, those of a pattern in the order of their names; each file is used once.",
                required: true),
            KeyInfo(
                "except", .list(.string(mayBeEmpty: false), atMost: maxPatterns),
                "Paths and patterns of files that are omitted from the matches of the patterns."),
            timing,
        ])
    static let urlAsset = MappingType(
        "urlAsset", "a remote asset", "A media file on a server; only with `--allow-network`.",
        keys: [
            KeyInfo(
                "url", url, "The URL. The server must report the length, and support range requests.",
                required: true),
            timing,
        ])
    /// The maximum number of paths that an asset lists.
    static let maxPaths = 10_000
    /// The maximum number of patterns of an asset, with their braces expanded.
    static let maxPatterns = BraceExpansion.limit
    private static let timing = KeyInfo(
        "timing", .word(AssetTiming.allCases.map(\.rawValue)),
        "`fast` reads times from the header and the index, `precise` reads every packet.",
        default: "fast")
    static let jobAsset = MappingType(
        "jobAsset", "a job's output", "An output of another job, for which this job waits.",
        keys: [
            KeyInfo("job", .identifier, "The job's id.", required: true),
            KeyInfo("output", .identifier, "The output's id, if the job has several."),
        ])
    static let asset = ValueType.oneOf([
        .string(), .mapping(fileAsset), .mapping(pathsAsset), .mapping(urlAsset), .mapping(pattern),
        .mapping(imagesAsset),
        .mapping(imageAsset), .mapping(playlistAsset), .mapping(jobAsset),
    ])

    static let range = MappingType(
        "range", "a range", "A section of the asset's time line: `[start, end)`.",
        keys: [
            KeyInfo("start", time, "Start.", default: "0"),
            KeyInfo("end", time, "End of the range (exclusive).", default: "end"),
            KeyInfo("duration", time, "Duration, instead of `end`."),
        ], alternatives: [.atMostOne(["end", "duration"])])

    static let limit = MappingType(
        "limit", "`limit`", "Truncates the output; the rest of the source is omitted.",
        keys: [
            KeyInfo("duration", time, "Maximum duration of the output."),
            KeyInfo(
                "size", byteSize,
                "Maximum file size. All tracks end at the time up to which they fit: the source is truncated, not encoded to fit."
            ),
        ],
        alternatives: [.atLeastOne(["duration", "size"])])

    static let chapter = MappingType(
        "chapter", "a chapter", "A chapter of the output, up to the start of the next one.",
        keys: [
            KeyInfo("start", time, "Start in the output.", required: true),
            KeyInfo("title", .string(), "Title of the chapter.", required: true),
        ])

    static let selection = MappingType(
        "selection", "a selection", "Tracks by their properties, all of which must match.",
        keys: [
            KeyInfo("index", trackIndex, "Index among the tracks of the kind, from 0."),
            KeyInfo("id", .integer(0...Int(Int32.max)), "The track's id in the container."),
            KeyInfo(
                "language", languageTag,
                "Language that the container states."),
            KeyInfo("codec", videoCodecName, "FFmpeg's name of the codec."),
            KeyInfo(
                "disposition", .oneOf([.word(TrackDisposition.names), .list(.word(TrackDisposition.names))]),
                "Disposition of the track; with several, it must have all."),
            KeyInfo(
                "characteristic", .word(["visual", "audible", "legible"]),
                "AVFoundation's characteristic: visual (video), audible (audio) or legible (subtitles)."),
            KeyInfo("title", .string(), "Title of the track."),
        ],
        alternatives: [
            .atLeastOne(["index", "id", "language", "codec", "disposition", "characteristic", "title"])
        ])
    static let subtitleAsset = ValueType.oneOf([.string(mayBeEmpty: false), .mapping(subtitleFile)])
    static let subtitleAssetSummary =
        "A subtitle file, whose tracks are selected in place of the source's: a path, or the id of an asset that is a file. Its time 0 is that of the source. At most 64 MB."
    static let subtitleSelection = MappingType(
        "subtitleSelection", "a selection of subtitles",
        "Subtitle tracks by their properties, all of which must match.",
        keys: [
            KeyInfo("asset", subtitleAsset, subtitleAssetSummary)
        ] + selection.keys,
        alternatives: [.atLeastOne(["asset"] + selection.keys.map(\.name))])
    /// The maximum number of alternatives of a selection.
    static let maxSelections = 32
    /// Tracks, or alternatives of which the first that matches is used.
    static let select = ValueType.oneOf([
        .word(SelectionWord.several), .scalar(trackIndex), .mapping(selection), selections,
    ])
    /// Subtitle tracks of the source, or of a file.
    static let selectSubtitles = ValueType.oneOf([
        .word(SelectionWord.several), .scalar(trackIndex), .mapping(subtitleSelection), selections,
    ])
    /// A selection of one track, with or without alternatives.
    static let selectOne = ValueType.oneOf([
        .word(SelectionWord.single), .scalar(trackIndex), .mapping(selection), singleSelections,
    ])
    /// Alternatives that may select several tracks.
    static let selections = ValueType.list(
        .oneOf([.word(SelectionWord.several), .scalar(trackIndex), .mapping(selection)]),
        atMost: maxSelections)
    /// Alternatives that select one track.
    static let singleSelections = ValueType.list(
        .oneOf([.word(SelectionWord.single), .scalar(trackIndex), .mapping(selection)]), atMost: maxSelections
    )

    private static let version1 = KeyInfo(
        "version", versionNumber, "The version of the job language.", required: true)
    private static let sharedKeys = [
        KeyInfo(
            "include", .oneOf([.string(), .list(.string(), atLeast: 0)]),
            "Other files whose vars, settings, assets and defaults are used; this file takes precedence."),
        KeyInfo("vars", .mapOf(.string(), keys: .identifiers), "Values for `${name}`."),
        KeyInfo("assets", .mapOf(asset, keys: .identifiers), "Sources by id."),
        KeyInfo(
            "settings",
            .mapOf(
                .oneOf([
                    .mapping(videoEncode.partial("Settings")), .mapping(audioEncode.partial("Settings")),
                ]),
                keys: .identifiers), "Named settings, for `use`."),
        KeyInfo(
            "defaults", .mapping(job.partial()),
            "Defaults of every job. Mappings are merged key by key; lists and single values are replaced."),
    ]

    /// Keys of a job file.
    package static let file = MappingType(
        "batch", "a job file", "A batch: assets and the jobs that read them.",
        keys: [version1, KeyInfo("name", .string(), "The batch's name.", default: "the file's name")]
            + sharedKeys + [
                KeyInfo(
                    "jobs", .mapOf(.mapping(job.partial()), keys: .identifiers, mayBeEmpty: false),
                    "Jobs by id; a file without jobs can only be included."
                )
            ])

    /// Returns the summary of a key of a job or of `encode`, for comments in generated files.
    package static func summary(of key: String, in part: Part) -> String? {
        let type =
            switch part {
            case .job: job
            case .videoEncode: videoEncode
            case .audioEncode: audioEncode
            }
        return type.key(key)?.summary
    }

    /// A mapping whose keys `summary(of:in:)` describes.
    package enum Part: Sendable {
        case job
        /// `encode` of a video rule.
        case videoEncode
        /// `encode` of an audio rule.
        case audioEncode
    }

    /// Keys of an included file.
    static let included = sections("an included file")
    /// Keys of a file without `jobs`, which other files may include.
    static let jobless = sections("a file without `jobs`")

    private static func sections(_ title: String) -> MappingType {
        MappingType(
            "included", title, "Sections for other files.",
            keys: [version1, KeyInfo("name", .string(), "Ignored.")] + sharedKeys + [
                KeyInfo("jobs", .mapOf(.mapping(job), keys: .identifiers), "Ignored in an included file.")
            ])
    }
}
