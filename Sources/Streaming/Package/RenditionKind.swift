/// The content of a rendition, as the word in reports and in the output of `probe`.
package enum RenditionKind: String, Codable, Hashable, Sendable {
    case video
    case audio
    case subtitles
    /// Sheets of thumbnails of a package that was created here.
    case thumbnails
    /// Images of a package that was read, such as thumbnails.
    case images
    /// Keyframes for fast forward and rewind (`EXT-X-I-FRAMES-ONLY`, DASH's trick mode).
    case keyframes
    /// Tracks of a type that the manifest doesn't state.
    case media
    /// Content of another type, such as `application`, which can't be read as a source.
    case other

    /// The kind of a rendition of a `contentType` or of the first part of a `mimeType` (ISO/IEC 23009-1).
    init(contentType: String?) {
        self =
            switch contentType {
            case "video": .video
            case "audio": .audio
            case "text": .subtitles
            case "image": .images
            case nil: .media
            default: .other
            }
    }

    /// The kind of a rendition of a `TYPE` of `EXT-X-MEDIA` (RFC 8216).
    init(mediaType: String?) {
        self =
            switch mediaType {
            case "VIDEO": .video
            case "AUDIO": .audio
            case "SUBTITLES": .subtitles
            case nil: .media
            default: .other
            }
    }
}
