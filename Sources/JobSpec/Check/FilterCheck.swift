internal import Diagnostics
internal import LibAV

/// What a job file may write into `filters`: a chain of filters that take pictures or sound as they come, one
/// frame in and one frame out, and that open no files.
enum FilterCheck {
    private static let video: Set<String> = [
        "atadenoise", "avgblur", "bm3d", "boxblur", "bwdif", "cas", "chromanr", "chromashift", "colorbalance",
        "colorchannelmixer", "colorcontrast", "colorcorrect", "colorize", "colorlevels", "colorspace",
        "colortemperature", "crop", "curves", "dblur", "deband", "deblock", "deflate", "deflicker", "delogo",
        "despill", "drawbox", "drawgrid", "edgedetect", "eq", "erosion", "exposure", "fade", "fftdnoiz",
        "fillborders", "format", "gblur", "gradfun", "grayworld", "hflip", "histeq", "hqdn3d", "hsvhold",
        "hue",
        "huesaturation", "il", "inflate", "lenscorrection", "limiter", "lumakey", "lut", "lutrgb", "lutyuv",
        "monochrome", "negate", "nlmeans", "noise", "normalize", "null", "owdenoise", "pad", "perspective",
        "pixelize", "pp", "pseudocolor", "realtime", "removegrain", "rgbashift", "rotate", "scale", "setdar",
        "setsar", "shear", "smartblur", "sobel", "swapuv", "tonemap", "transpose", "unsharp", "vaguedenoiser",
        "vflip", "vibrance", "vignette", "yadif", "zscale",
    ]
    private static let audio: Set<String> = [
        "acompressor", "acontrast", "acrusher", "adeclick", "adeclip", "adynamicequalizer", "adynamicsmooth",
        "aecho", "aemphasis", "aexciter", "afade", "afftdn", "aformat", "agate", "alimiter", "allpass",
        "anlmdn", "anull", "aphaser", "apulsator", "arealtime", "aresample", "asoftclip", "asubboost",
        "asubcut", "asupercut", "asuperpass", "asuperstop", "bandpass", "bandreject", "bass", "biquad",
        "channelmap", "chorus", "compand", "compensationdelay", "crossfeed", "crystalizer", "dcshift",
        "deesser", "dialoguenhance", "drmeter", "dynaudnorm", "earwax", "equalizer", "extrastereo", "flanger",
        "haas", "hdcd", "highpass", "highshelf", "loudnorm", "lowpass", "lowshelf", "mcompand", "pan",
        "speechnorm", "stereotools", "stereowiden", "superequalizer", "surround", "tiltshelf", "treble",
        "tremolo", "vibrato", "virtualbass", "volume",
    ]
    /// Options of allowed filters that name a file.
    private static let fileOptions: Set<String> = [
        "psfile", "plot", "filename", "file", "textfile", "fontfile", "stats_file",
    ]

    static func check(_ chain: Located<String>, _ type: MediaType, into sink: inout DiagnosticSink) {
        let text = chain.value
        guard text.utf8.count <= 4096, !text.contains(where: { ";[]".contains($0) }) else {
            sink.error(
                .filterChain,
                "`filters` is a chain of filters with `,` between them, without labels and `;`, of at most 4096 bytes",
                at: chain.range)
            return
        }
        let allowed = type == .video ? video : audio
        for step in steps(text) {
            let name = step.prefix { $0 != "=" && $0 != "@" }.trimmingSpaces
            guard allowed.contains(name) else {
                let isKnown = FilterGraph.hasFilter(name)
                sink.error(
                    .filterChain,
                    isKnown
                        ? "the filter `\(name)` can't be used here: it opens files, changes timing, or is not for \(type.rawValue)"
                        : "there is no filter `\(name)`", at: place(of: name, in: chain),
                    help: Suggestion.help(for: name, among: allowed.sorted()))
                return
            }
            let arguments = step.drop { $0 != "=" }.dropFirst()
            let named = arguments.split(separator: ":").map { $0.prefix { $0 != "=" }.trimmingSpaces }
            if let option = named.first(where: { fileOptions.contains($0) })
                ?? (name == "curves" && arguments.split(separator: ":").contains(where: { !$0.contains("=") })
                    ? "curves without names" : nil)
            {
                sink.error(.filterChain, "filters may not open files (`\(option)`)", at: chain.range)
                return
            }
            if ["scale", "pad"].contains(name),
                arguments.contains("eval=frame") || arguments.contains("eval=1")
            {
                sink.error(
                    .filterChain, "`\(name)` must make all pictures of one size, and not `eval=frame`",
                    at: chain.range)
                return
            }
            if ["yadif", "bwdif"].contains(name), !arguments.isEmpty,
                !arguments.contains("mode=send_frame"), !arguments.contains("mode=0")
            {
                sink.error(
                    .filterChain,
                    "`\(name)` must keep one frame for one (`mode=send_frame`); `deinterlace` does it too",
                    at: chain.range)
                return
            }
        }
        do throws(AVError) {
            try FilterGraph.parse(text, mediaType: type)
        } catch {
            sink.error(
                .filterChain, "the filters can't be set up: \(error.detail ?? error.reason)", at: chain.range)
        }
    }

    /// The filters of a chain: `,` ends one, unless it is quoted or escaped.
    private static func steps(_ text: String) -> [String] {
        var steps = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "'" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                steps.append("")
                continue
            }
            steps[steps.count - 1].append(character)
        }
        return steps
    }

    private static func place(of name: String, in chain: Located<String>) -> SourceRange {
        let range = chain.range
        guard range.line == range.endLine, let found = chain.value.firstRange(of: name) else { return range }
        let width = range.endColumn - range.column
        let length = chain.value.unicodeScalars.count
        guard width == length || width == length + 2 else { return range }
        let start =
            range.column + (width - length) / 2
            + chain.value.unicodeScalars.distance(from: chain.value.startIndex, to: found.lowerBound)
        var part = SourceRange(
            source: range.source, line: range.line, column: start, endLine: range.line,
            endColumn: start + name.unicodeScalars.count)
        part.context = range.context
        return part
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        String(
            drop { $0 == " " || $0 == "\t" || $0 == "\n" }.reversed().drop {
                $0 == " " || $0 == "\t" || $0 == "\n"
            }.reversed())
    }
}
