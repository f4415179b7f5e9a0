internal import LibAV

/// Messages for the filters of libavfilter that job files can't use, with their replacements.
enum FilterRefusal {
    /// Replacements in the job language. The plan accounts for their effect on the times and sizes of frames.
    private static let replacements: [String: String] = [
        "fps": "`frame_rate`", "framerate": "`frame_rate`", "minterpolate": "`frame_rate`",
        "trim": "`range`", "atrim": "`range`", "select": "`range`", "aselect": "`range`",
        "format": "`pixel_format`", "aformat": "`sample_format`, `sample_rate` and `channels`",
        "aresample": "`sample_rate`", "asetrate": "`sample_rate`", "setsar": "`pixel_aspect_ratio`",
        "setdar": "`pixel_aspect_ratio`", "loudnorm": "`normalize`", "ebur128": "`expect: { loudness: … }`",
        "silencedetect": "`expect: { silence: … }`", "blackdetect": "`expect: { black: … }`",
        "ssim": "`expect: { similarity: … }`", "psnr": "`expect: { similarity: … }`",
        "setrange": "`color: { range: … }`", "colorspace": "`color`", "zscale": "`size` and `color`",
        "amix": "`mix`", "amerge": "`mix`", "pan": "`channels`", "channelmap": "`channels`",
        "thumbnail": "`images`", "tile": "`images: { sheet: … }`",
        // Filters that combine several sources or change the speed.
        "movie": "an asset, or a layer of a `composition`",
        "amovie": "an asset, or the `audio` of a `composition`", "concat": "`composition: [a.mp4, b.mp4]`",
        "xfade": "a `composition` with `{ join: dissolve, overlap: 1s }` between its clips",
        "acrossfade": "a `composition` with `{ join: dissolve, overlap: 1s }` between its clips",
        "overlay": "the `layers` of a `composition`", "hstack": "the `layers` of a `composition`",
        "vstack": "the `layers` of a `composition`", "xstack": "the `layers` of a `composition`",
        "drawtext": "a layer of a `composition`: `{ text: … }`",
        "subtitles": "`burn`", "ass": "`burn`",
        "sidechaincompress": "the `audio` of a `composition`: `{ duck: … }`",
        "setpts": "a `composition`, whose clips have a `speed`",
        "atempo": "a `composition`, whose clips have a `speed`",
    ]
    /// Further filters that drop, duplicate or retime frames, which would invalidate the plan's counts and times.
    private static let timingFilters: Set<String> = [
        "asetpts", "rubberband", "loop", "aloop", "tpad", "apad", "adelay", "reverse",
        "areverse",
        "decimate", "mpdecimate", "tinterlace", "telecine", "pullup", "detelecine", "fieldmatch", "framestep",
        "shuffleframes", "random", "freezeframes", "segment", "asegment", "silenceremove",
        "separatefields",
        "weave", "doubleweave", "untile", "interlace", "repeatfields", "dejudder", "settb", "asettb",
        "realtime",
        "arealtime", "sidedata", "asidedata",
    ]
    /// Filters that read or write files, or accept external commands.
    private static let externalFilters: Set<String> = [
        "lut3d", "lut1d", "ladspa", "lv2", "frei0r", "sendcmd", "asendcmd",
        "zmq",
        "azmq", "vidstabdetect", "vidstabtransform", "libvmaf", "sofalizer", "arnndn", "dnn_processing",
        "dnn_detect",
        "dnn_classify", "derain", "sr", "metadata", "ametadata", "cover_rect", "find_rect", "signature",
        "removelogo",
        "haldclut", "afir", "axcorrelate", "program_opencl", "hwmap", "hwupload",
        "hwdownload",
    ]

    /// Returns the error message for a filter that exists in this build but isn't in `FilterCatalog`.
    static func reason(_ name: String, for type: MediaType) -> String {
        let other: MediaType = type == .video ? .audio : .video
        if FilterCatalog.tables(other)[name] != nil {
            return "the filter `\(name)` is for \(other.rawValue), and the rule for \(type.rawValue)"
        }
        if let key = replacements[name] {
            return "the filter `\(name)` can't be used in a job file: use \(key)"
        }
        if externalFilters.contains(name) {
            return
                "the filter `\(name)` can't be used in a job file: it opens files or takes commands from outside"
        }
        if timingFilters.contains(name) {
            return
                "the filter `\(name)` can't be used in a job file: it changes timestamps or the number of frames"
        }
        guard let pads = FilterInfo.pads(of: name) else {
            return
                "the filter `\(name)` can't be used in a job file: its number of inputs or outputs is variable"
        }
        guard pads.inputs == [type], pads.outputs == [type] else {
            let (inputs, outputs) = (text(pads.inputs), text(pads.outputs))
            return
                "the filter `\(name)` can't be used here: it converts \(inputs) to \(outputs); `filters` requires one \(type.rawValue) input and one \(type.rawValue) output"
        }
        return
            "the filter `\(name)` can't be used in a job file: it is not one of the supported filters"
    }

    private static func text(_ pads: [MediaType]) -> String {
        pads.isEmpty ? "nothing" : pads.map(\.rawValue).joined(separator: " and ")
    }
}
