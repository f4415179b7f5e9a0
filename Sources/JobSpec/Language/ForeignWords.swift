internal import LibAV
internal import YAMLDocument

/// Words of other tools, and their equivalents in the job language.
enum ForeignWords {
    /// Equivalent keys, by the key of ffmpeg, HandBrake or an editor.
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
        "cq": "crf", "filesize": "target_size", "file_size": "target_size", "max_size": "target_size",
        "rotate": "orientation", "transpose": "orientation", "sar": "pixel_aspect_ratio", "volume": "gain",
        "artwork": "cover", "poster": "cover", "album_art": "cover", "loudnorm": "normalize",
        "sample_fmt": "sample_format",
        "lang": "language",
        "transition": "join", "xfade": "join", "crossfade": "join",
        // Only a join has the key `overlap`.
        "duration": "overlap", "length": "overlap",
    ]

    /// Help for other tools' keys of a job that have no direct equivalent or are not supported.
    private static let elsewhere: [String: String] = [
        "overlay":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "watermark":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "logo":
            "`composition` has `layers`: `composition: { sequence: [ … ], layers: [ { asset: logo.png, place: { right: 40, top: 40 } } ] }`",
        "cover": coverKey, "artwork": coverKey, "album_art": coverKey,
        "concat": "`composition: [ a.mp4, b.mp4 ]` joins files, `range: [ … ]` joins parts of one",
        "join": "`composition: [ a.mp4, b.mp4 ]` joins files, `range: [ … ]` joins parts of one",
        "inputs": "a job reads one `asset`, or several on one time line: `composition: [ a.mp4, b.mp4 ]`",
        "burn":
            "`burn` is a key of a video `encode`: `encode: { codec: h264, burn: { asset: captions.srt } }`",
        "subtitles": "`subtitle: …` is a rule of `tracks`",
        "speed": "`speed` is a key of clips: `composition: [ { asset: a.mp4, speed: 2 } ]`",
        "ss": "`range: { start: … }`", "start": "`range: { start: … }`", "seek": "`range: { start: … }`",
        "t": "`range: { duration: … }`", "to": "`range: { end: … }`", "end": "`range: { end: … }`",
        "duration": "`range: { duration: … }`",
        "an": "omit rules for audio in `tracks`; tracks without a rule are dropped",
        "vn": "omit rules for video in `tracks`; tracks without a rule are dropped",
        "sn": "omit rules for subtitles in `tracks`; tracks without a rule are dropped",
        "overwrite": "`destination: { path: …, if_exists: replace }`",
        "y": "`destination: { path: …, if_exists: replace }`",
        "codec": "`encode: { codec: … }` in a rule of `tracks`",
        "vcodec": "`encode: { codec: … }` in a rule of `tracks`",
        "acodec": "`encode: { codec: … }` in a rule of `tracks`",
        "c:v": "`encode: { codec: … }` in a rule of `tracks`",
        "c:a": "`encode: { codec: … }` in a rule of `tracks`", "video": "`video: …` is a rule of `tracks`",
        "audio": "`audio: …` is a rule of `tracks`", "subtitle": "`subtitle: …` is a rule of `tracks`",
        "encode": "`encode` belongs in a rule of `tracks`",
        "crf": "`crf` belongs in the `encode` of a rule of `tracks`",
        "vf": "`filters` belongs in the `encode` of a rule of `tracks`",
        "af": "`filters` belongs in the `encode` of a rule of `tracks`",
        "filters": "`filters` belongs in the `encode` of a rule of `tracks`",
        "filter_complex":
            "`filters` belongs in the `encode` of a rule of `tracks`; a `composition` combines several sources",
        "hls": package, "dash": package, "playlist": package, "playlists": package, "segments": package,
        "segment": package,
        "thumbnail": "`images: { at: … }` writes still images",
        "thumbnails": "`images: { every: … }` writes still images",
        "poster": "`images: { at: … }` writes still images",
        "screenshot": "`images: { at: … }` writes still images",
        "video_codec": "`encode: { codec: … }` in a rule of `tracks`",
        "audio_codec": "`encode: { codec: … }` in a rule of `tracks`",
        "strategy": "`matrix` is a key of the job: `matrix: { crf: [20, 26] }`",
        "if": condition, "condition": condition, "only_if": condition,
        "unless": "`when: { not: { … } }` skips the job for sources that meet the conditions",
        "continue-on-error": "a failed job stops only the jobs that need its output",
        "timeout-minutes": "write `timeout: 10:00` for ten minutes",
        "env": "`${env.NAME}` is an environment variable; `vars` of the file defines variables",
        "uses": "`include` of the file reads settings, assets and defaults from other files",
        "extends": "`defaults` of the file contains keys for all jobs",
        "run": commands, "steps": commands, "script": commands, "cmd": commands,
        "watch": "`tandem watch FILE…` runs the jobs of a file whenever their files appear or change",
        "hwaccel": hardware, "hardware": hardware, "gpu": hardware,
        "target_quality": "`quality` belongs in the `encode` of a rule of `tracks`",
    ]

    private static let condition =
        "`when: { video: { height: { min: 720 } } }` skips the job for sources that don't meet the conditions; `--only` selects the jobs of a run"
    private static let package =
        "`package: { destination: out/talk }` beside `outputs` writes HLS and DASH playlists with their segments"
    private static let commands = "a job describes an asset and its outputs, not commands"

    /// Help for words that correspond to `quality` of video.
    private static let videoKeys: [String: String] = [
        "target_quality": similarity, "ssim": similarity, "psnr": similarity,
        "vmaf": "VMAF is not supported; write a target as `quality: { ssim: 0.98 }`",
    ]
    /// Help for other tools' keys of `encode` that have no direct equivalent or are not supported.
    private static let encodeKeys: [String: String] = [
        "x264-params": "`options: { x264-params: … }`", "x264opts": "`options: { x264-params: … }`",
        "x265-params": "`options: { x265-params: … }`",
        "svtav1-params": "`options: { svtav1-params: … }`",
        "hwaccel": hardware, "hwaccel_output_format": hardware, "hwaccel_device": hardware, "gpu": hardware,
        "hardware": hardware, "hw": hardware,
        "movflags": faststart, "faststart": faststart,
        "width": frameSize, "height": frameSize,
        "two_pass": twoPasses, "two-pass": twoPasses, "twopass": twoPasses, "2pass": twoPasses,
        "multi_pass": twoPasses,
        "aspect": aspect, "aspect_ratio": aspect, "dar": aspect,
        "start": section, "end": section, "duration": section, "ss": section, "t": section, "to": section,
        "copy": "`copy: true` belongs in the rule of `tracks`, beside `encode` or instead of it",
    ]
    private static let frameSize =
        "write the size as `size: 1280x720`; `1280x` and `x720` keep the aspect ratio"
    private static let twoPasses = "write `passes: 2`"
    private static let similarity = "write a target for the finished file as `quality: { ssim: 0.98 }`"
    private static let aspect =
        "`size` sets the size of the frame, `pixel_aspect_ratio` the shape of its pixels"
    private static let section = "`range: { start: …, end: … }` of the job selects a section of the asset"
    private static let coverKey = "`metadata: { cover: art.jpg }` sets a cover from an image file"
    private static let hardware =
        "`encoder` selects a hardware encoder: `codec: h264, encoder: h264_nvenc`; hardware decoding is not supported"
    private static let faststart =
        "`optimize_for_network: true` of the job moves the index to the front (faststart)"

    /// Returns help for an unknown option of an encoder; nil if there is none.
    static func help(option: String) -> String? {
        switch option {
        case "movflags", "faststart": faststart
        case "threads": "`threads` is a key of the job"
        case "hwaccel", "gpu": hardware
        default:
            [Language.videoEncode, Language.audioEncode].lazy.compactMap {
                key(option, in: $0, value: nil)
            }.first.map { "use the key `\($0)` of `encode`" }
        }
    }

    /// Equivalents of other tools' values, by key.
    private static let values: [String: [String: String]] = [
        "join": [
            "crossfade": "dissolve", "xfade": "dissolve", "fade": "dissolve", "mix": "dissolve",
            "cross-dissolve": "dissolve", "crossdissolve": "dissolve",
        ],
        "fit": [
            "pad": "contain", "letterbox": "contain", "bars": "contain", "aspect-fit": "contain",
            "crop": "cover", "zoom": "cover", "aspect-fill": "cover", "distort": "stretch", "scale": "inside",
        ],
        "orientation": ["-90": "270", "-180": "180", "-270": "90"],
        "range": ["limited": "tv", "mpeg": "tv", "full": "pc", "jpeg": "pc"],
        "container": [
            "matroska": "mkv", "quicktime": "mov", "mpegts": "ts", "mpeg-ts": "ts", "m4v": "mp4",
            "vtt": "webvtt", "fmp4": "mp4", "cmaf": "mp4", "cmfc": "mp4",
        ],
        "codec": ["vtt": "webvtt", "subrip": "srt", "ssa": "ass", "tx3g": "mov_text"],
        "export": [
            "480p": "640x480", "540p": "960x540", "720p": "1280x720", "1080p": "1920x1080",
            "2160p": "3840x2160", "4k": "3840x2160", "copy": "passthrough",
        ],
        "leftover": [
            "ignore": "drop", "discard": "drop", "skip": "drop", "fail": "error", "warning": "warn",
        ],
        "crop": ["cropdetect": "auto", "detect": "auto", "borders": "auto", "automatic": "auto"],
        "if_exists": ["overwrite": "replace", "error": "fail", "keep": "skip"],
        "on_damage": ["ignore": "skip", "error": "fail", "abort": "fail"],
        "deinterlace": ["yadif": "on", "bwdif": "on"],
        "pattern": [
            "colorbars": "smpte", "smptebars": "smpte", "smptehdbars": "smptehd", "testsrc2": "testsrc",
        ],
        "channels": ["1.0": "mono", "2.0": "stereo", "1ch": "mono", "2ch": "stereo", "6ch": "5.1"],
    ]

    /// Returns the word that corresponds to another tool's value; nil if there is none.
    static func value(_ word: String, of key: String, among words: [String]) -> String? {
        values[key]?[word.lowercased()].flatMap { words.contains($0) ? $0 : nil }
    }

    /// Codecs and encoders by HandBrake's names.
    private static let handBrake = [
        "nvenc_h264": "codec: h264, encoder: h264_nvenc", "nvenc_h265": "codec: hevc, encoder: hevc_nvenc",
        "qsv_h264": "codec: h264, encoder: h264_qsv", "svt_av1": "codec: av1", "av_aac": "codec: aac",
        "ca_aac": "codec: aac",
    ]
    /// Help for `copy` as a codec, or as the name of settings.
    static let copy = "`copy: true` in the rule, instead of `encode`, copies the track"

    /// Returns help for an unknown codec; nil if there is none.
    static func help(codec name: String, _ type: MediaType) -> String? {
        if name == "copy" { return copy }
        if let words = handBrake[name] { return "write `\(words)`" }
        // For the name of a codec's preferred encoder, the codec is suggested instead.
        if let selection = CodecCatalog.encoder(name, of: type),
            selection.codec.encoders.first?.name != name
        {
            return "write `codec: \(selection.name), encoder: \(name)`"
        }
        guard let mark = name.lastIndex(of: "_"),
            ["nvenc", "qsv", "vaapi", "videotoolbox", "amf", "v4l2m2m", "mf", "vulkan", "omx", "cuvid"]
                .contains(name[name.index(after: mark)...])
        else { return nil }
        guard let selection = CodecCatalog.codec(String(name[..<mark]), of: .video) else {
            return "this hardware encoder is not supported"
        }
        let names = selection.codec.encoders.map(\.name)
        return
            "this hardware encoder is not supported; use one of \(names.joined(separator: ", "))"
    }

    /// Returns the key of a mapping that corresponds to another tool's key; nil if there is none, or if the key doesn't
    /// accept the kind of `value`.
    static func key(_ word: String, in type: MappingType, value: YAMLNode?) -> String? {
        let word = word.lowercased()
        guard let key = keysOfMappings[type.completeName]?[word] ?? keys[word],
            let valueType = type.key(key)?.type
        else { return nil }
        return value.map { valueType.acceptsKind(of: $0) } ?? true ? key : nil
    }

    /// Returns whether the error for an unknown key replaces those for missing keys of its mapping.
    static func replacesRules(_ word: String, in type: MappingType) -> Bool {
        switch type.completeName {
        case "output": word == "check"
        case "crop", "images", "expectDuration", "expectSimilarity": help(word, in: type) != nil
        case "videoTrack", "audioTrack": placement(of: word, in: type) != nil
        default: false
        }
    }

    /// Returns help for an unknown key: the replacement, or the reason why there is none; nil for other keys.
    static func help(_ word: String, in type: MappingType) -> String? {
        switch type.completeName {
        case "job": elsewhere[word.lowercased()]
        case "output":
            word == "check"
                ? "write `check` in a separate job, and name that job in `needs`" : nil
        case "videoEncode": videoKeys[word.lowercased()] ?? encodeKeys[word.lowercased()]
        case "audioEncode": encodeKeys[word.lowercased()]
        case "metadata": "write tags as `set: { \(word): … }`"
        case let name: helpOfMappings[name]?[word.lowercased()]
        }
    }

    /// Returns an example of a mapping, for a value that is a scalar or a list instead.
    static func example(of type: MappingType) -> String? {
        let name = type.completeName
        return examples[name].map { "write it as `\($0)`" + (remarks[name].map { "; \($0)" } ?? "") }
    }
    private static let remarks = ["videoQuality": "constant quality is `crf: 22`"]
    private static let examples: [String: String] = [
        "videoQuality": "{ ssim: 0.98 }",
        "range": "{ start: 1s, end: 3s }", "limit": "{ size: 50MB }",
        "place": "{ bottom: 10%, center: true }",
        "metadata": "{ keep: all, set: { title: … } }", "chapter": "{ start: 0s, title: … }",
        "crop": "{ x: 0, y: 0, width: 640, height: 360 }", "color": "{ matrix: bt709, range: tv }",
        "selection": "{ language: eng }", "job": "{ asset: a.mp4, export: 1280x720, destination: out/a.mp4 }",
        "output": "{ export: 1280x720, destination: out/a.mp4 }", "images": "{ every: 5s }",
        "imageSheet": "{ columns: 5, rows: 5 }", "waveform": "{ format: png }", "check": "{ decode: true }",
        "destination": "{ path: out/a.mp4, if_exists: replace }", "expect": "{ duration: 10s }",
        "duck": "{ under: voice, by: 12dB }", "levelPoint": "{ at: 0s, value: 1 }",
        "volumePoint": "{ at: 0s, value: 1 }", "opacityPoint": "{ at: 0s, value: 1 }",
        "composition": "{ sequence: [ a.mp4, b.mp4 ] }", "subtitleEncode": "{ codec: srt }",
        "waveformColors": "{ waveform: \"#1f4e79\" }", "imageTolerance": "{ before: 1s, after: 1s }",
        "videoEncode": "{ codec: h264, crf: 23 }", "audioEncode": "{ codec: aac, bitrate: 128k }",
        "expectSize": "{ max: 50MB }", "expectLongest": "{ max: 2s }",
        "expectVideo": "{ codec: h264, width: 1280 }", "expectAudio": "{ codec: aac, channels: stereo }",
        "expectLoudness": "{ integrated: { is: -16, within: 1 } }",
        "expectIntegrated": "{ is: -16, within: 1 }", "expectPeak": "{ max: -1 }",
        "expectSimilarity": "{ ssim: { min: 0.98 } }", "expectSSIM": "{ min: 0.98 }",
        "expectPSNR": "{ min: 40 }",
    ]

    /// Returns help for an extension that isn't one of a supported media container; nil for other extensions.
    static func help(extension word: String) -> String? {
        switch word.lowercased() {
        case "png", "jpg", "jpeg", "webp": "use `images: { at: … }` instead of `tracks` for still images"
        case "gif": "use `images: { every: 100ms, animation: gif }` instead of `tracks` for animations"
        case "bmp", "tif", "tiff", "avif": "supported image formats: jpeg, png, webp"
        case "m3u8", "mpd", "hls", "dash": package
        case "avi", "flv", "wmv", "asf", "mpg", "mpeg", "vob", "mxf", "3gp":
            "this container is not supported for outputs; use .mp4, .mov or .mkv"
        case "wma", "amr": "this container is not supported for outputs; use .m4a, .mp3, .ogg, .flac or .wav"
        default: nil
        }
    }
}
