public import LibAV

/// A cover: a frame that belongs to the file, not a track of moving ones.
public struct CoverArt: Sendable {
    /// What kind of frame it is.
    public let parameters: CodecParameters
    /// The frame file's bytes.
    public let bytes: [UInt8]
    /// What the source says of it (`title`, `comment`).
    public let metadata: [MetadataEntry]

    /// The covers that are some tracks of a file. Throws where one is not there.
    public static func read(
        path: String, tracks: [Int], environment: SourceEnvironment
    ) throws -> [CoverArt] {
        guard !tracks.isEmpty else { return [] }
        let demuxer = try Demuxer.open(path: path, environment: environment)
        return try tracks.map { track in
            guard let bytes = demuxer.attachedPicture(of: track) else {
                throw MediaError.misuse("the cover in track \(track) is no longer there")
            }
            let stream = try demuxer.stream(track)
            return CoverArt(parameters: stream.parameters, bytes: bytes, metadata: stream.metadata)
        }
    }
}
