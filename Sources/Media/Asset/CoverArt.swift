package import LibAV

/// Cover art: an attached image of the file, as opposed to a video track.
package struct CoverArt: Sendable {
    /// Codec parameters of the image.
    package let parameters: CodecParameters
    /// Contents of the image file.
    package let bytes: [UInt8]
    /// Metadata of the image in the source (`title`, `comment`).
    package let metadata: [MetadataEntry]

    /// Reads the cover art with these track indices. Throws if one of them is missing.
    package static func read(
        path: String, tracks: [Int], environment: SourceEnvironment
    ) throws -> [CoverArt] {
        guard !tracks.isEmpty else { return [] }
        let demuxer = try Demuxer.open(path: path, environment: environment)
        return try tracks.map { track in
            guard let bytes = demuxer.attachedPicture(of: track) else {
                throw MediaError.sourceChanged("the cover in track \(track) no longer exists")
            }
            let stream = try demuxer.stream(track)
            return CoverArt(parameters: stream.parameters, bytes: bytes, metadata: stream.metadata)
        }
    }

    /// Reads an image file as the front cover. Throws if it changed since it was probed.
    package static func read(
        _ image: CoverImage, path: String, environment: SourceEnvironment
    ) throws -> CoverArt {
        // ID3 and FLAC store this comment as the picture's type, by which players choose one.
        CoverArt(
            parameters: try CodecParameters.video(
                codec: image.codec, width: image.width, height: image.height, pixelFormat: image.pixelFormat,
                extradata: []),
            bytes: try image.read(path: path, environment: environment),
            metadata: [MetadataEntry(key: "comment", value: "Cover (front)")])
    }
}
