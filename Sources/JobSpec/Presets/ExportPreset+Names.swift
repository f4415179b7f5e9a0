/// Presets as static properties, for the library's API.
extension ExportPreset {
    private static func known(_ name: String) -> ExportPreset {
        // A test covers each name.
        named(name) ?? all[0]
    }

    /// H.264 of at most 640x360, for previews.
    public static var low: ExportPreset { known("low") }
    /// H.264 of at most 1280x720, for the web.
    public static var medium: ExportPreset { known("medium") }
    /// High-quality H.264 in the source's size.
    public static var highest: ExportPreset { known("highest") }
    /// H.264 of at most 640x480.
    public static var h264At640x480: ExportPreset { known("640x480") }
    /// H.264 of at most 960x540.
    public static var h264At960x540: ExportPreset { known("960x540") }
    /// H.264 of at most 1280x720.
    public static var h264At1280x720: ExportPreset { known("1280x720") }
    /// H.264 of at most 1920x1080.
    public static var h264At1920x1080: ExportPreset { known("1920x1080") }
    /// H.264 of at most 3840x2160.
    public static var h264At3840x2160: ExportPreset { known("3840x2160") }
    /// HEVC in the source's size.
    public static var hevcHighest: ExportPreset { known("hevc-highest") }
    /// HEVC of at most 1920x1080.
    public static var hevcAt1920x1080: ExportPreset { known("hevc-1920x1080") }
    /// HEVC of at most 3840x2160.
    public static var hevcAt3840x2160: ExportPreset { known("hevc-3840x2160") }
    /// ProRes 422 and PCM, for editing.
    public static var proRes422: ExportPreset { known("prores-422") }
    /// ProRes 4444 and PCM, with alpha.
    public static var proRes4444: ExportPreset { known("prores-4444") }
    /// The audio alone, as AAC.
    public static var m4a: ExportPreset { known("m4a") }
    /// Video, audio and subtitles, copied unchanged.
    public static var passthrough: ExportPreset { known("passthrough") }

    static var typed: [ExportPreset] {
        [
            low, medium, highest, h264At640x480, h264At960x540, h264At1280x720, h264At1920x1080,
            h264At3840x2160,
            hevcHighest, hevcAt1920x1080, hevcAt3840x2160, proRes422, proRes4444, m4a, passthrough,
        ]
    }
}
