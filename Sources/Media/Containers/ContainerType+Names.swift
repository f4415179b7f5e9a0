/// Built-in containers as static properties.
extension ContainerType {
    private static func builtIn(_ name: String) -> ContainerType {
        // `named(_:)` returns a container for every name below, which a test verifies.
        named(name) ?? all[0]
    }

    /// MPEG-4 (`AVFileType.mp4`).
    public static var mp4: ContainerType { builtIn("mp4") }
    /// QuickTime (`AVFileType.mov`).
    public static var mov: ContainerType { builtIn("mov") }
    /// MPEG-4 with audio only (`AVFileType.m4a`).
    public static var m4a: ContainerType { builtIn("m4a") }
    /// Matroska (`.mkv`, `.mka`).
    public static var matroska: ContainerType { builtIn("mkv") }
    /// WebM.
    public static var webm: ContainerType { builtIn("webm") }
    /// MPEG transport stream.
    public static var transportStream: ContainerType { builtIn("ts") }
    /// Ogg with audio tracks.
    public static var ogg: ContainerType { builtIn("ogg") }
    /// MP3 (`AVFileType.mp3`).
    public static var mp3: ContainerType { builtIn("mp3") }
    /// AAC in ADTS frames.
    public static var adts: ContainerType { builtIn("adts") }
    /// WebVTT cues.
    public static var webvtt: ContainerType { builtIn("webvtt") }
    /// Native FLAC.
    public static var flac: ContainerType { builtIn("flac") }
    /// RIFF WAVE (`AVFileType.wav`).
    public static var wav: ContainerType { builtIn("wav") }
    /// AIFF (`AVFileType.aiff`).
    public static var aiff: ContainerType { builtIn("aiff") }

    /// The containers of this extension with their names, for tests.
    static var typed: [(name: String, type: ContainerType)] {
        [
            ("mp4", mp4), ("mov", mov), ("m4a", m4a), ("mkv", matroska), ("webm", webm),
            ("ts", transportStream), ("ogg", ogg), ("mp3", mp3), ("adts", adts), ("flac", flac), ("wav", wav),
            ("aiff", aiff), ("webvtt", webvtt),
        ]
    }
}
