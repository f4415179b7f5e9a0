extension ContainerModel {
    /// Files of Advanced SubStation Alpha.
    static let ass = cues("ass", ["ass", "ssa"], codecs: ["ass", "ssa"])
}
