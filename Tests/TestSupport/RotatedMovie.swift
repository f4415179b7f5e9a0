/// Copies a movie and adds a clockwise rotation for display. The option for it depends on ffmpeg's version.
public func copyMovie(_ source: String, rotatedBy degrees: Int, to path: String) throws {
    do {
        try ffmpeg("-display_rotation:v:0", "\(-degrees)", "-i", source, "-c", "copy", path)
    } catch {
        try ffmpeg("-i", source, "-c", "copy", "-metadata:s:v:0", "rotate=\(degrees)", path)
    }
}
