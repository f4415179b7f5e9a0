package import LibAV

/// A file that travels along in a container, such as a font for subtitles (Matroska's attachments).
package struct AttachedFile: Sendable {
    /// Its bytes.
    package let bytes: [UInt8]
    /// What it is: `filename`, `mimetype`.
    package let metadata: [MetadataEntry]

    /// The attachments that are some tracks of a file. Throws where one is not there.
    package static func read(
        path: String, tracks: [Int], environment: SourceEnvironment
    ) throws -> [AttachedFile] {
        guard !tracks.isEmpty else { return [] }
        let demuxer = try Demuxer.open(path: path, environment: environment)
        return try tracks.map { track in
            let stream = try demuxer.stream(track)
            guard stream.parameters.mediaType == .attachment, !stream.parameters.extradata.isEmpty else {
                throw MediaError.misuse("the attachment in track \(track) is no longer there")
            }
            return AttachedFile(
                bytes: stream.parameters.extradata,
                metadata: stream.metadata.filter { ["filename", "mimetype", "title"].contains($0.key) })
        }
    }
}
