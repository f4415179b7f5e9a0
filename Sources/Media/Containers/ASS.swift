extension ContainerModel {
    /// SubStation Alpha and Advanced SubStation Alpha files.
    static let ass = cues("ass", ["ass", "ssa"], codecs: ["ass", "ssa"])
}
