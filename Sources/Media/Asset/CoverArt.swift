public import LibAV

/// A cover: a frame that belongs to the file, not a track of moving ones.
public struct CoverArt: Sendable {
    /// What kind of frame it is.
    public let parameters: CodecParameters
    /// The frame file's bytes.
    public let bytes: [UInt8]
    /// What the source says of it (`title`, `comment`).
    public let metadata: [MetadataEntry]

    /// Kinds of frames, as libav names them, with what a Matroska attachment calls them.
    static let types = [
        "mjpeg": (mime: "image/jpeg", name: "cover.jpg"), "png": (mime: "image/png", name: "cover.png"),
        "bmp": (mime: "image/bmp", name: "cover.bmp"), "gif": (mime: "image/gif", name: "cover.gif"),
        "webp": (mime: "image/webp", name: "cover.webp"), "tiff": (mime: "image/tiff", name: "cover.tiff"),
    ]

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
