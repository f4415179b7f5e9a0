public import LibAV

/// A file that travels along in a container, such as a font for subtitles (Matroska's attachments).
public struct AttachedFile: Sendable {
    /// Its bytes.
    public let bytes: [UInt8]
    /// What it is: `filename`, `mimetype`.
    public let metadata: [MetadataEntry]

    /// The attachment that is a track of a file; nil where it has none there.
    public static func read(
        path: String, track: Int, limits: InputLimits = InputLimits()
    ) throws -> AttachedFile? {
        let demuxer = try Demuxer.open(path: path, limits: limits)
        guard track < demuxer.streamCount else { return nil }
        let stream = try demuxer.stream(track)
        guard stream.parameters.mediaType == .attachment, !stream.parameters.extradata.isEmpty else {
            return nil
        }
        return AttachedFile(
            bytes: stream.parameters.extradata,
            metadata: stream.metadata.filter { ["filename", "mimetype", "title"].contains($0.key) })
    }
}
