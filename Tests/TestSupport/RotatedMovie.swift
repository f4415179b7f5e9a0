/// Copies a movie, saying that its video is to be rotated clockwise for display: ffmpeg says it in one way up to 5, and
/// in another from 6 on.
public func copyMovie(_ source: String, rotatedBy degrees: Int, to path: String) throws {
    do {
        try ffmpeg("-display_rotation:v:0", "\(-degrees)", "-i", source, "-c", "copy", path)
    } catch {
        try ffmpeg("-i", source, "-c", "copy", "-metadata:s:v:0", "rotate=\(degrees)", path)
    }
}
