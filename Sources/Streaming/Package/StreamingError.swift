/// A reason for which a package has no manifests.
package enum StreamingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The package has no formats or no audio and video.
    case emptyPackage
    /// The manifests of a format can't refer to segments in the container.
    case unsupportedContainer(SegmentContainer, StreamingFormat)
    /// The id isn't `[A-Za-z_][A-Za-z0-9_-]*`, or is longer than 128 bytes.
    case invalidID(String)
    /// Ids are equal, or differ only in case.
    case repeatedID(String)
    /// A property of a rendition is out of bounds.
    case invalidRendition(id: String, reason: String)
    /// A segment's times or sizes are out of bounds. `index` counts from 0.
    case invalidSegment(id: String, index: Int, reason: String)
    /// A variant refers to no rendition, or to one of another kind.
    case invalidVariant(StreamingVariant)
    /// The divided subtitles exceed this many bytes.
    case subtitlesTooLarge(limit: Int)
    /// The text isn't WebVTT.
    case invalidWebVTT(line: Int)

    package var description: String {
        switch self {
        case .emptyPackage: "the package has no audio, no video, or no manifest format"
        case .unsupportedContainer(let container, let format):
            "the format `\(format.rawValue)` doesn't support segments in \(container.rawValue)"
        case .invalidID(let id):
            "the rendition id `\(id)` is invalid; expected a letter or `_`, then letters, digits, `_` and `-`, at most 128 characters"
        case .repeatedID(let id): "the rendition id `\(id)` is used twice; ids must differ in more than case"
        case .invalidRendition(let id, let reason): "rendition `\(id)`: \(reason)"
        case .invalidSegment(let id, let index, let reason):
            "rendition `\(id)`, segment \(index + 1): \(reason)"
        case .invalidVariant(let variant):
            "the variant with video `\(variant.video ?? "none")` and audio `\(variant.audio ?? "none")` requires renditions of these kinds and ids"
        case .subtitlesTooLarge(let limit):
            "the subtitles exceed \(limit >> 20) MB when cues are repeated in all segments that they overlap"
        case .invalidWebVTT(let line): "line \(line) of the subtitles isn't WebVTT"
        }
    }
}
