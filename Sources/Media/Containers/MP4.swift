internal import LibAV

extension ContainerModel {
    /// MPEG-4 (ISO/IEC 14496-14).
    static let mp4: ContainerModel = {
        var model = movie("mp4", ["mp4", "m4v"], [.video, .audio, .subtitle, .data])
        model.commonExtensions = ["m4a"]
        model.dataCodecs = ["gpmd"]
        model.coverCodecs = ["mjpeg", "png", "bmp"]
        model.storesDolbyVision = true
        model.hasTimecode = true
        model.storesColor = true
        model.requiresCompleteColor = true
        model.storesColorRange = true
        model.defaultLayout = defaultFLACLayout
        model.setDispositions([
            "default", "dub", "comment", "forced", "hearing_impaired", "visual_impaired", "captions",
            "descriptions",
        ])
        // FFmpeg 5.1 treats FLAC in mp4 as experimental, although it has been specified since 2019.
        model.muxerOptions = [(key: "strict", value: "experimental")]
        return model
    }()
}
