public import FoundationEssentials
public import Media

/// The file that an export created.
public struct ExportResult: Sendable {
    /// Location of the file.
    public let url: URL
    /// Size of the file in bytes.
    public let fileLength: Int64
    /// Duration of the file's media.
    public let duration: MediaTime
    /// Reports on the file's tracks, in order.
    public let tracks: [TrackReport]
    /// Deviations from the source that the preset doesn't imply, such as dropped frames.
    public let warnings: [String]
}
