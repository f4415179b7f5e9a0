internal import YAMLDocument

/// Keys and values of other tools, by the mapping in which they occur.
extension ForeignWords {
    /// Equivalents of other tools' keys in one mapping, by the mapping's name. They take precedence over `keys`, which
    /// applies to all mappings.
    static let keysOfMappings: [String: [String: String]] = [
        "range": [
            "from": "start", "in": "start", "begin": "start", "ss": "start", "to": "end", "out": "end",
            "stop": "end", "t": "duration", "length": "duration",
        ],
        "crop": ["w": "width", "h": "height"],
        "pathsAsset": [
            "exclude": "except", "excluding": "except", "ignore": "except", "not": "except",
        ],
        "color": [
            "color_primaries": "primaries", "color_trc": "transfer", "trc": "transfer",
            "transfer_characteristics": "transfer", "colorspace": "matrix", "color_space": "matrix",
            "matrix_coefficients": "matrix", "color_range": "range",
        ],
        "normalize": [
            "target": "integrated", "i": "integrated", "lufs": "integrated", "lra": "range",
            "loudness_range": "range", "tp": "true_peak", "peak": "true_peak",
        ],
        "videoEncode": [
            "vbv_maxrate": "max_bitrate", "vbv-maxrate": "max_bitrate", "vbv_bufsize": "buffer_size",
            "vbv-bufsize": "buffer_size", "encoder_preset": "preset", "speed-preset": "preset",
            "speed_preset": "preset", "encoder_tune": "tune", "encoder_profile": "profile",
            "encoder_level": "level",
        ],
        "audioEncode": [
            "q": "quality", "q:a": "quality", "aq": "quality", "vbr": "quality", "mixdown": "channels",
            "samplerate": "sample_rate",
        ],
        "destination": ["file": "path", "filename": "path", "output": "path"],
        "images": [
            "time": "at", "timestamp": "at", "timestamps": "at", "interval": "every", "number": "count",
        ],
        "composition": ["clips": "sequence", "inputs": "sequence", "files": "sequence"],
        "package": [
            "format": "formats", "manifests": "formats", "segment_duration": "segment",
            "segment_time": "segment", "hls_time": "segment", "seg_duration": "segment",
            "fragment": "segment", "duration": "segment", "length": "segment", "iframe": "iframes",
            "i_frames": "iframes", "keyframes": "iframes", "trick_play": "iframes",
            "segment_type": "container", "segment_format": "container", "hls_segment_type": "container",
            "muxtype": "container",
        ],
        "subtitleSelection": ["path": "asset", "file": "asset"],
        "assetLayer": ["start": "at", "end": "until"],
        "subtitleLayer": [
            "start": "at", "end": "until", "font_size": "size", "fontsize": "size", "font_color": "color",
            "fontcolor": "color",
        ],
        "textLayer": [
            "start": "at", "end": "until", "font_size": "size", "fontsize": "size", "font_color": "color",
            "fontcolor": "color",
        ],
    ]

    /// Help for other tools' keys without a direct equivalent, by the mapping's name.
    static let helpOfMappings: [String: [String: String]] = [
        "fileAsset": [
            "start": jobRange, "end": jobRange, "duration": jobRange, "range": jobRange, "except": exceptions,
            "exclude": exceptions, "ignore": exceptions, "files": paths, "globs": paths, "patterns": paths,
        ],
        "pathsAsset": ["start": jobRange, "end": jobRange, "duration": jobRange, "range": jobRange],
        "clip": ["start": clipRange, "end": clipRange, "in": clipRange, "out": clipRange],
        "assetLayer": ["x": position, "y": position, "position": position],
        "textLayer": ["x": position, "y": position, "position": position],
        "crop": ["left": rectangle, "right": rectangle, "top": rectangle, "bottom": rectangle],
        "videoTrack": ["default": disposition, "forced": disposition],
        "audioTrack": ["default": disposition, "forced": disposition],
        "subtitleTrack": ["default": disposition, "forced": disposition],
        "chapter": ["end": "a chapter ends at the start of the next one"],
        "destination": [
            "overwrite": "`if_exists: replace` replaces an existing file",
            "replace": "`if_exists: replace` replaces an existing file",
        ],
        "package": [
            "audio": renditions, "video": renditions, "subtitles": renditions, "subtitle": renditions,
            "tracks": renditions, "renditions": renditions, "streams": renditions, "languages": renditions,
            "bandwidth": "bit rates are measured on the finished segments",
        ],
        "burn": Dictionary(
            uniqueKeysWithValues: ["language", "index", "codec", "title", "disposition", "track"].map {
                ($0, "a track is selected by `subtitle`, such as `subtitle: { language: eng }`")
            }),
        "images": ["fps": "`every: 1s` writes an image for each second"],
        "expectDuration": [
            "min": "write a duration and its tolerance as `{ is: 10s, within: 1s }`",
            "max": "write a duration and its tolerance as `{ is: 10s, within: 1s }`",
        ],
        "expect": [
            "resolution": "`video: { width: 1280, height: 720 }` compares the frame size",
            "width": "`width` is a key of `video`", "height": "`height` is a key of `video`",
            "codec": "`codec` is a key of `video` and of `audio`",
            "ssim": "`similarity: { ssim: { min: 0.98 } }` compares the frames with the source",
            "psnr": "`similarity: { psnr: { min: 40 } }` compares the frames with the source",
            "vmaf": vmaf,
        ],
        "expectSimilarity": ["vmaf": vmaf],
        "videoQuality": ["vmaf": "VMAF is not supported; `quality` has `ssim` and `psnr`"],
        "expectVideo": [
            "size": "write `width: 1280, height: 720`", "resolution": "write `width: 1280, height: 720`",
        ],
    ]
    private static let jobRange = "`range: { start: … }` of the job selects a section of the asset"
    private static let exceptions = "`except` belongs beside `paths`: `{ paths: [ … ], except: [ … ] }`"
    private static let paths = "write several files as `{ paths: [ a.mp4, \"in/*.mov\" ] }`"
    private static let clipRange = "write `range: { start: …, end: … }`"
    private static let position = "write the position as `place: { left: 10, top: 10 }`"
    private static let rectangle =
        "the rectangle to keep is written as `{ x: 0, y: 0, width: 640, height: 360 }`"
    private static let renditions =
        "the outputs without `destination` are the renditions; `language`, `title` and `disposition` of their rules describe them"
    private static let disposition = "write `disposition: default`, or `disposition: [default, forced]`"
    private static let vmaf = "VMAF is not supported; `similarity` has `ssim` and `psnr`"

    /// Features that other tools have and Tandem doesn't, by the keys that request them and by the mapping's name.
    private static let missingFeatures: [String: [String: String]] = [
        "package": [
            "encryption": encryption, "encrypt": encryption, "drm": encryption, "key": encryption,
            "keys": encryption, "key_id": encryption, "key_url": encryption, "key_info_file": encryption,
            "hls_key_info_file": encryption, "hls_enc": encryption, "iv": encryption, "cenc": encryption,
            "cbcs": encryption, "protection_scheme": encryption, "pssh": encryption, "widevine": encryption,
            "playready": encryption, "fairplay": encryption, "clearkey": encryption, "aes": encryption,
            "aes-128": encryption, "sample-aes": encryption,
            "live": live, "low_latency": live, "ll_hls": live, "hls_list_size": live, "window_size": live,
        ]
    ]
    private static let encryption = "encryption"
    private static let live = "live streaming"

    /// Returns the feature that an unknown key requests and Tandem doesn't support; nil for other keys.
    static func missingFeature(_ word: String, in type: MappingType) -> String? {
        missingFeatures[type.completeName]?[word.lowercased()]
    }

    /// Returns help with the mapping to which an unknown key belongs; nil if there is none.
    static func placement(of entry: YAMLNode.Entry, in type: MappingType) -> String? {
        // A job that is not indented below `jobs`.
        if ["batch", "included"].contains(type.completeName),
            ["asset", "composition", "tracks", "export", "destination"].contains(where: {
                entry.value[key: $0] != nil
            })
        {
            return "jobs belong below `jobs`: `jobs: { \(entry.key): … }`"
        }
        return placement(of: entry.key, in: type)
    }

    /// Returns help with the mapping to which a key, or the equivalent of another tool's key, belongs; nil if there is
    /// none.
    static func placement(of word: String, in type: MappingType) -> String? {
        let encode = [Language.videoEncode, Language.audioEncode]
        let isOfEncode = encode.contains { $0.has(word) || key(word, in: $0, value: nil) != nil }
        switch type.completeName {
        case "videoEncode":
            return Language.job.has(word)
                ? "`\(word)` is a key of the job" : otherKind(word, [("audio", Language.audioEncode)])
        case "audioEncode":
            return Language.job.has(word)
                ? "`\(word)` is a key of the job" : otherKind(word, [("video", Language.videoEncode)])
        case "subtitleEncode":
            return Language.subtitleTrack.has(word)
                ? "`\(word)` is a key of the rule, beside `encode`"
                : otherKind(word, [("video", Language.videoEncode), ("audio", Language.audioEncode)])
        case "videoTrack", "audioTrack":
            if type.completeName == "videoTrack", Language.audioTrack.has(word) {
                return "`\(word)` is a key of audio rules"
            }
            return isOfEncode ? "`\(key(word, amongAll: encode))` belongs in `encode`" : nil
        case "output": return Language.job.has(word) ? "`\(word)` is a key of the job" : nil
        case "job":
            if Language.file.has(word) { return "`\(word)` is a key of the file, beside `jobs`" }
            return isOfEncode
                ? "`\(key(word, amongAll: encode))` belongs in the `encode` of a rule of `tracks`" : nil
        case "batch", "included":
            return Language.job.has(word)
                ? "`\(word)` is a key of a job; `defaults` contains keys for all jobs" : nil
        default: return nil
        }
    }

    /// Returns help with the kinds of tracks whose `encode` has a key; nil if there is none.
    private static func otherKind(_ word: String, _ kinds: [(name: String, type: MappingType)]) -> String? {
        let owners = kinds.filter { $0.type.has(word) || key(word, in: $0.type, value: nil) != nil }
        guard !owners.isEmpty else { return nil }
        return
            "`\(key(word, amongAll: owners.map(\.type)))` is a key of \(owners.map(\.name).joined(separator: " and ")) `encode`"
    }

    /// Returns help for a text in typographic quotes, which YAML treats as ordinary characters; nil for other texts.
    static func typographicQuotes(_ text: String) -> String? {
        // The first byte of each of these characters.
        guard text.utf8.first == 0xe2 else { return nil }
        let quotes: Set<Character> = ["“", "”", "„", "‟", "‘", "’", "‚", "‛"]
        guard text.count > 1, let first = text.first, let last = text.last, quotes.contains(first),
            quotes.contains(last)
        else { return nil }
        return "remove the typographic quotes, or use straight ones: `\"\(text.dropFirst().dropLast())\"`"
    }

    /// Returns `word` if one of the mappings has that key; otherwise the equivalent of another tool's key.
    private static func key(_ word: String, amongAll types: [MappingType]) -> String {
        if types.contains(where: { $0.has(word) }) { return word }
        return types.lazy.compactMap { key(word, in: $0, value: nil) }.first ?? word
    }

    /// Returns help with the scalar syntax of a key whose value is a list or a mapping; nil for most keys.
    static func scalar(_ what: String) -> String? {
        switch what {
        case "`size`": "write it as `size: 1280x720`"
        case "`filters`": "write the chain as one text: `filters: \"scale=640:360,hflip\"`"
        case "`x264-params`", "`x265-params`", "`svtav1-params`":
            "write the settings as one text, such as \"keyint=50:scenecut=0\""
        case "`export`": "`outputs` writes several files: `outputs: { hd: { export: …, destination: … } }`"
        default: nil
        }
    }

    /// Returns help for a key without a value; nil for most keys.
    static func empty(_ what: String) -> String? {
        ["`color`", "`background`", "`waveform`"].contains(what)
            ? "`#` starts a comment in YAML; a color needs quotes, such as \"#ffcc00\"" : nil
    }

    /// Returns help for a value that isn't one of a key's words; nil for most keys.
    static func help(value text: String, of key: String) -> String? {
        switch key {
        case "color":
            text.lowercased() == "hdr"
                ? "HDR frames stay HDR without `color`; `sdr` converts them"
                : "write it as `{ primaries: bt709, transfer: bt709, matrix: bt709 }`"
        case "disposition":
            text.contains("+") || text.contains(",")
                ? "write several as a list: `disposition: [default, forced]`" : nil
        case "crop": "write a rectangle as `{ x: 0, y: 0, width: 640, height: 360 }`"
        default: nil
        }
    }
}
