internal import LibAV

/// The manifests and renditions of a finished package, for reports.
package struct PackageSummary: Codable, Hashable, Sendable {
    /// Paths of the manifests that players open, relative to the package's folder.
    package var manifests: [String]
    package var renditions: [Rendition]

    /// A rendition with its measured properties.
    package struct Rendition: Codable, Hashable, Sendable {
        /// The output's id in the job file.
        package var id: String
        package var kind: RenditionKind
        /// `CODECS` of the track; nil for subtitles and thumbnails.
        package var codecs: String?
        /// Size of the displayed frame, such as `1280x720`; nil for audio and subtitles.
        package var resolution: String?
        /// Number of channels; nil unless it is audio.
        package var channels: Int?
        package var language: String?
        package var title: String?
        /// Number of segments.
        package var segments: Int
        /// Size of the initialization section and all segments in bytes.
        package var size: Int64
        /// Peak bit rate in bits per second.
        package var bandwidth: Int64
        /// Average bit rate in bits per second.
        package var averageBandwidth: Int64
        /// Path of the playlist relative to the package's folder; nil without HLS, and for thumbnails.
        package var playlist: String?
    }
}

extension StreamingPackage {
    /// The summary of the package for reports.
    package var summary: PackageSummary {
        let rates = bitRates
        let names = [
            (StreamingFormat.hls, layout.multivariantPlaylist), (.dash, layout.presentationDescription),
        ]
        return PackageSummary(
            manifests: names.filter { formats.contains($0.0) }.map(\.1),
            renditions: renditions.map { rendition in
                var resolution: String?
                var size = rendition.segments.reduce(rendition.initializationSize) {
                    $0.adding(upToLimit: $1.size)
                }
                let kind: RenditionKind
                switch rendition.kind {
                case .video(let video):
                    kind = .video
                    resolution = "\(video.displaySize.width)x\(video.displaySize.height)"
                case .audio: kind = .audio
                case .subtitles(let subtitles):
                    kind = .subtitles
                    size = max(size, subtitles.fileSize)
                case .thumbnails(let sheet):
                    kind = .thumbnails
                    resolution = "\(sheet.width)x\(sheet.height)"
                    size = sheet.fileSize
                }
                let isListed = formats.contains(.hls) && rendition.thumbnails == nil
                return PackageSummary.Rendition(
                    id: rendition.id, kind: kind, codecs: rendition.codec?.hls, resolution: resolution,
                    channels: rendition.audio?.layout.channels, language: rendition.language?.value,
                    title: rendition.title, segments: rendition.segments.count, size: size,
                    bandwidth: rates[rendition.id]?.peak ?? 0,
                    averageBandwidth: rates[rendition.id]?.average ?? 0,
                    playlist: isListed ? layout.playlist(of: rendition.id) : nil)
            })
    }
}
