extension EncoderTraits {
    /// x265.
    static let x265: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libx265."
        traits.passNotes = .fileInParameters(option: "x265-params")
        traits.headers = .hevc
        traits.levelUnit = 30
        traits.profiles =
            [
                Profile(asked: "main", number: 1, name: "Main"),
                Profile(asked: "main10", number: 2, name: "Main 10"),
            ]
            + ["main12", "main422-10", "main444-8", "main444-10"].map {
                Profile(asked: $0, number: 4, name: "a range extension")
            }
        return traits
    }()
}
