internal import LibAV

extension ContainerModel {
    /// WebM, a subset of Matroska.
    static let webm: ContainerModel = {
        var model = matroska("webm", ["webm"], [.video, .audio, .subtitle])
        model.setDispositions(["default", "forced"])
        return model
    }()
}
