internal import LibAV

extension ContainerModel {
    /// WebM: Matroska for the web.
    static let webm: ContainerModel = {
        var model = matroska("webm", ["webm"], [.video, .audio, .subtitle])
        model.setDispositions(["default", "forced"])
        return model
    }()
}
