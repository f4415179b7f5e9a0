/// Words of other tools, and what they are called here.
enum ForeignWords {
    /// The key that says the same, by the word that ffmpeg, HandBrake or an editor has for it.
    private static let keys: [String: String] = [
        "input": "asset", "i": "asset", "source": "asset", "src": "asset", "file": "asset", "in": "asset",
        "output": "destination", "out": "destination", "dest": "destination", "target": "destination",
        "streams": "tracks", "map": "tracks", "trim": "range", "preset": "export", "format": "container",
        "f": "container",
        "faststart": "optimize_for_network", "movflags": "optimize_for_network", "depends": "needs",
        "depends_on": "needs",
        "c": "codec", "c:v": "codec", "c:a": "codec", "c:s": "codec", "vcodec": "codec", "acodec": "codec",
        "b": "bitrate", "b:v": "bitrate", "b:a": "bitrate", "vb": "bitrate", "ab": "bitrate",
        "bit_rate": "bitrate",
        "r": "frame_rate", "fps": "frame_rate", "framerate": "frame_rate",
        "s": "size", "scale": "size", "resolution": "size",
        "g": "keyframe_interval", "gop": "keyframe_interval", "keyint": "keyframe_interval",
        "bf": "b_frames", "bframes": "b_frames", "pix_fmt": "pixel_format", "ar": "sample_rate",
        "ac": "channels",
        "vf": "filters", "af": "filters", "filter": "filters", "filter_complex": "filters",
        "maxrate": "max_bitrate", "bufsize": "buffer_size", "pass": "passes", "q": "crf", "q:v": "crf",
        "cq": "crf",
        "rotate": "orientation", "transpose": "orientation", "sar": "pixel_aspect_ratio", "volume": "gain",
        "loudnorm": "normalize", "sample_fmt": "sample_format", "x264-params": "options",
        "x265-params": "options",
        "lang": "language",
    ]

    /// What is done elsewhere or not yet, by the key that asks for it.
    private static let elsewhere: [String: String] = [
        "overlay":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "watermark":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "logo":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "concat": "`composition: [ a.mp4, b.mp4 ]` joins files, `range: [ … ]` joins parts of one",
        "join": "`composition: [ a.mp4, b.mp4 ]` joins files, `range: [ … ]` joins parts of one",
        "inputs": "a job reads one `asset`, or several on one time line: `composition: [ a.mp4, b.mp4 ]`",
        "burn": "burning subtitles in is not in this version; `subtitle: …` keeps them as a track",
        "subtitles": "`subtitle: …` is a rule of `tracks`",
        "speed": "`speed` is a clip's: `composition: [ { asset: a.mp4, speed: 2 } ]`",
        "ss": "`range: { start: … }`", "start": "`range: { start: … }`", "seek": "`range: { start: … }`",
        "t": "`range: { duration: … }`", "to": "`range: { end: … }`", "end": "`range: { end: … }`",
        "duration": "`range: { duration: … }`",
        "an": "no rule of `tracks` for audio: what none selects is left out",
        "vn": "no rule of `tracks` for video: what none selects is left out",
        "sn": "no rule of `tracks` for subtitles: what none selects is left out",
        "overwrite": "`destination: { path: …, if_exists: replace }`",
        "y": "`destination: { path: …, if_exists: replace }`",
        "codec": "`encode: { codec: … }` in a rule of `tracks`",
        "vcodec": "`encode: { codec: … }` in a rule of `tracks`",
        "acodec": "`encode: { codec: … }` in a rule of `tracks`",
        "c:v": "`encode: { codec: … }` in a rule of `tracks`",
        "c:a": "`encode: { codec: … }` in a rule of `tracks`", "video": "`video: …` is a rule of `tracks`",
        "audio": "`audio: …` is a rule of `tracks`", "subtitle": "`subtitle: …` is a rule of `tracks`",
        "encode": "`encode` stands in a rule of `tracks`",
        "crf": "`crf` stands in the `encode` of a rule of `tracks`",
        "vf": "`filters` stands in the `encode` of a rule of `tracks`",
        "af": "`filters` stands in the `encode` of a rule of `tracks`",
        "filters": "`filters` stands in the `encode` of a rule of `tracks`",
        "filter_complex":
            "`filters` stands in the `encode` of a rule of `tracks`; several sources are a `composition`",
        "hls": "`package` will make it; this version doesn't have it yet",
        "dash": "`package` will make it; this version doesn't have it yet",
        "thumbnail": "`images: { at: … }` makes stills", "thumbnails": "`images: { every: … }` makes stills",
        "poster": "`images: { at: … }` makes stills", "screenshot": "`images: { at: … }` makes stills",
    ]

    /// The key of a mapping that a word means; nil where none does.
    static func key(_ word: String, in type: MappingType) -> String? {
        keys[word.lowercased()].flatMap { type.has($0) ? $0 : nil }
    }

    /// Where what a word asks for is said that stands in a job, or that it can't be.
    static func help(_ word: String, in type: MappingType) -> String? {
        type.name == "job" ? elsewhere[word.lowercased()] : nil
    }

    /// What a file name's extension asks for that is no movie.
    static func help(extension word: String) -> String? {
        switch word.lowercased() {
        case "png", "jpg", "jpeg", "webp": "stills are made by `images: { at: … }` instead of `tracks`"
        case "gif": "animations are made by `images: { every: 100ms, animation: gif }` instead of `tracks`"
        case "bmp", "tif", "tiff", "avif": "stills are jpeg, png or webp"
        case "m3u8", "mpd": "playlists and their segments are not written by this version"
        default: nil
        }
    }
}
