package import Media

/// The contents of a package, as its manifests and files describe them.
package struct PackageDescription: Encodable, Hashable, Sendable {
    /// `hls` or `dash`.
    package var format: StreamingFormat
    /// Duration of the longest rendition.
    package var duration: MediaTime
    /// Combinations that players can choose; empty for DASH and for a single media playlist.
    package var variants: [Variant]
    package var renditions: [Rendition]
    /// Differences between the manifests and the files.
    package var problems: [String]

    /// A combination of renditions (`EXT-X-STREAM-INF`).
    package struct Variant: Encodable, Hashable, Sendable {
        /// Path of the main playlist.
        package var path: String
        /// Peak bit rate in bits per second.
        package var bandwidth: Int64
        package var averageBandwidth: Int64?
        package var codecs: String?
        package var resolution: String?
        package var frameRate: String?
        package var videoRange: String?
        /// Id of the audio group.
        package var audio: String?
        /// Id of the subtitle group.
        package var subtitles: String?
    }

    /// A rendition with its segments.
    package struct Rendition: Encodable, Hashable, Sendable {
        /// Path of its playlist for HLS, id for DASH.
        package var name: String
        package var kind: RenditionKind
        package var codecs: String?
        package var resolution: String?
        package var language: String?
        package var title: String?
        /// Id of its group.
        package var group: String?
        /// Peak bit rate in bits per second, where the manifest states it.
        package var bandwidth: Int64?
        /// Number of segments.
        package var segments: Int
        /// Number of distinct files.
        package var files: Int
        /// Size of these files in bytes.
        package var size: Int64
        package var duration: MediaTime
        package var longestSegment: MediaTime
        package var isEncrypted: Bool

        init(_ name: String, kind: RenditionKind) {
            (self.name, self.kind, segments, files, size) = (name, kind, 0, 0, 0)
            (duration, longestSegment, isEncrypted) = (.zero, .zero, false)
        }
    }

    init(_ format: StreamingFormat) {
        (self.format, duration, variants, renditions, problems) = (format, .zero, [], [], [])
    }
}
