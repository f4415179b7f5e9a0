internal import LibAV

extension ContainerModel {
    /// MPEG-4 with audio only (libavformat's `ipod` muxer).
    static let m4a: ContainerModel = {
        var model = movie("m4a", muxer: "ipod", ["m4a"], [.audio])
        model.commonExtensions = ["mp4"]
        model.coverCodecs = ["mjpeg", "png", "bmp"]
        model.defaultLayout = defaultFLACLayout
        model.setDispositions(["default"])
        return model
    }()
}
