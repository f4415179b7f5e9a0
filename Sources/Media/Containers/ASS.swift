extension ContainerModel {
    /// Files of Advanced SubStation Alpha.
    static let ass: ContainerModel = {
        var model = cues("ass", ["ass", "ssa"], codecs: ["ass", "ssa"])
        model.mayBeEmpty = true
        return model
    }()
}
