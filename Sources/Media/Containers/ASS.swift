extension ContainerModel {
    /// Advanced SubStation Alpha (ASS, SSA).
    static let ass = cues("ass", ["ass", "ssa"], codecs: ["ass", "ssa"])
}
