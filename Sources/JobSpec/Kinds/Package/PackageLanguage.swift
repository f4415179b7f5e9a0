internal import Streaming

/// The keys of `package`.
extension Language {
    static let packageVariant = MappingType(
        "packageVariant", "an entry of `variants`", "A combination of renditions that players can choose.",
        keys: [
            KeyInfo("video", .identifier, "The id of an output with a video track."),
            KeyInfo(
                "audio", .identifier,
                "The id of an output with an audio track, or the name of a group in `audio`."),
        ], alternatives: [.atLeastOne(["video", "audio"])])
    static let package = MappingType(
        "package", "`package`",
        "A folder for streaming: the outputs without `destination` become its renditions, in segments that HLS and DASH share (CMAF), or in MPEG transport streams for HLS. Each rendition has one track rule: video, audio, or a subtitle track with `encode: { codec: webvtt }`. Encoded video gets a keyframe at the start of each segment. The folder is published as a whole and replaces an earlier version in one step.",
        keys: [
            KeyInfo(
                "formats",
                .oneOf([
                    .word(StreamingFormat.allCases.map(\.rawValue)),
                    .list(.word(StreamingFormat.allCases.map(\.rawValue))),
                ]),
                "Formats of the manifests: `hls` writes `master.m3u8` and a playlist for each rendition, `dash` writes `manifest.mpd`.",
                default: "[hls, dash]"),
            KeyInfo(
                "segment", length(segmentDurations, suchAs: "6s or 4000ms"),
                "Duration of segments, \(segmentDurations.lower) to \(segmentDurations.upper). A segment of video begins with the first keyframe at or after each multiple of it, a segment of audio with the packet nearest to it.",
                default: "6s"),
            KeyInfo(
                "files", .word(PackageFiles.allCases.map(\.rawValue)),
                "`many`: a file for each segment; `single`: a file for each rendition, with byte ranges.",
                default: "many"),
            KeyInfo(
                PackageDecoder.container, .word(SegmentContainer.allCases.map(\.rawValue)),
                "Container of the segments of video and audio. `mp4`: fragmented mp4 (CMAF). `ts`: MPEG transport streams with H.264 and AAC, MP3, AC-3 or E-AC-3, for older HLS players; requires `formats: [hls]`.",
                default: "mp4"),
            KeyInfo(
                "variants", .list(.mapping(packageVariant)),
                "The combinations that players can choose.",
                default: "every video rendition with every audio rendition"),
            KeyInfo(
                PackageDecoder.audio,
                .mapOf(
                    .oneOf([.identifier, .list(.identifier)]), keys: .identifiers, mayBeEmpty: false),
                "Groups of audio renditions by name (HLS's `GROUP-ID`), such as `{ stereo: [eng, fra], surround: [eng51, fra51] }`: players choose a group by what they decode, and users a rendition of it by language. The default of a group is the first output with `disposition: [default]`, otherwise the first one.",
                default: "a group for each format (codec and number of channels)"),
            KeyInfo(
                "iframes", .boolean,
                "Playlists of keyframes for fast seeking (`EXT-X-I-FRAMES-ONLY`); `hls` only.",
                default: "false"),
            KeyInfo(
                "thumbnails", .string(mayBeEmpty: false),
                "The id of an output without `destination` that has `images` with `every` or `count`, and a `sheet`: previews for seeking, as an image adaptation set of DASH, and as an image playlist of HLS (`EXT-X-IMAGE-STREAM-INF`)."
            ),
            KeyInfo(
                "destination", .oneOf([.string(mayBeEmpty: false), .mapping(destination)]),
                "The folder, relative to the job file. An existing folder is replaced only if Tandem published it.",
                required: true),
        ])
}
