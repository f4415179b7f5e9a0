extension EncoderTraits {
    /// x264.
    static let x264: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libx264."
        traits.passNotes = .file(option: "stats")
        traits.bottomFieldFirst = ("x264-params", "bff")
        // The ultrafast preset costs no more than decoding does, which goes on beside it: with a thread a core its frame
        // threads wait less for each other than with its own choice of one and a half (measured on two cores at 0.02 bits a
        // pixel, seconds of one, two, three threads: 1.82, 1.82, 1.83; at 0.25: 2.57, 2.40, 2.32; at 1: 3.11, 2.75, 2.64).
        // Where decoding is dear, and for slower presets, its own choice is best.
        traits.threads = { cores, bitsPerPixel, preset in
            bitsPerPixel < 0.75 && preset == "ultrafast" ? max(1, cores) : nil
        }
        traits.takesCaptions = true
        traits.headers = .avc
        traits.profiles = [
            Profile(asked: "baseline", number: 66, name: "Constrained Baseline"),
            Profile(asked: "main", number: 77, name: "Main"),
            Profile(asked: "high", number: 100, name: "High"),
            Profile(asked: "high10", number: 110, name: "High 10"),
            Profile(asked: "high422", number: 122, name: "High 4:2:2"),
            Profile(asked: "high444", number: 244, name: "High 4:4:4 Predictive"),
        ]
        return traits
    }()
}
