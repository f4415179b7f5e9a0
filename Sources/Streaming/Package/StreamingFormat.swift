/// A manifest format of a streaming package.
package enum StreamingFormat: String, Codable, Hashable, Sendable, CaseIterable {
    /// HTTP Live Streaming (RFC 8216bis): playlists.
    case hls
    /// Dynamic Adaptive Streaming over HTTP (ISO/IEC 23009-1): a media presentation description.
    case dash
}

/// The division of a rendition into files.
package enum PackageFiles: String, Codable, Hashable, Sendable, CaseIterable {
    /// A file for the initialization section, if there is one, and one for each segment.
    case many
    /// A file for each rendition, in mp4 with an index (`sidx`); manifests refer to byte ranges.
    case single
}
