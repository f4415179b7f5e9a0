package import LibAV

/// A file attached to a container, such as a font for subtitles (Matroska's attachments).
package struct AttachedFile: Sendable {
    /// Contents of the file.
    package let bytes: [UInt8]
    /// Metadata of the attachment: `filename`, `mimetype`, `title`.
    package let metadata: [MetadataEntry]

    /// Reads the attachments with these track indices. Throws if one of them is missing.
    package static func read(
        path: String, tracks: [Int], environment: SourceEnvironment
    ) throws -> [AttachedFile] {
        guard !tracks.isEmpty else { return [] }
        let demuxer = try Demuxer.open(path: path, environment: environment)
        return try tracks.map { track in
            let stream = try demuxer.stream(track)
            guard stream.parameters.mediaType == .attachment, !stream.parameters.extradata.isEmpty else {
                throw MediaError.sourceChanged("the attachment in track \(track) no longer exists")
            }
            return AttachedFile(
                bytes: stream.parameters.extradata,
                metadata: stream.metadata.filter { ["filename", "mimetype", "title"].contains($0.key) })
        }
    }
}
