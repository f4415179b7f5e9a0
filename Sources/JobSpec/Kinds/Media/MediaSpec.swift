package import Media

/// The keys of an output with tracks in a container.
package struct MediaSpec: Sendable {
    /// Whether the index is moved to the front of the file.
    package var optimizeForNetwork: Located<Bool>?
    /// Duration of the file's fragments; nil for a file without fragments.
    package internal(set) var fragmentInterval: Located<MediaTime>?
    package var metadata = MetadataSpec()
    /// Chapters; nil for the source's.
    package var chapters: Located<ChapterSpec>?
    /// Maximum duration of the output.
    package var durationLimit: Located<TimeExpression>?
    /// Maximum size of the output in bytes.
    package var sizeLimit: Located<Int64>?

    /// The settings of a track that is planned as if for a container, and becomes an image or a waveform.
    package static let defaults = MediaSpec()
}
