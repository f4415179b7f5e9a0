package import Media

/// A streaming package: renditions with their measured segments, from which all manifests follow.
///
/// Manifests depend on nothing else, and equal packages have equal manifests.
package struct StreamingPackage: Codable, Hashable, Sendable {
    /// Formats of the manifests, without repetitions.
    package var formats: [StreamingFormat]
    /// Division of renditions into files.
    package var files: PackageFiles
    /// Container of audio and video segments.
    package var container: SegmentContainer
    /// Requested duration of segments: the lower bound of HLS's target duration.
    package var segmentDuration: MediaTime
    /// Renditions in order of preference.
    package var renditions: [StreamingRendition]
    /// Variants of HLS; empty to offer every video with every audio rendition, or audio alone without video.
    package var variants: [StreamingVariant]
    /// Whether HLS gets a playlist of keyframes for each video (`EXT-X-I-FRAMES-ONLY`). DASH's trick modes require
    /// complete segments of keyframes, which don't exist.
    package var hasKeyframePlaylists: Bool

    package init(
        formats: [StreamingFormat], files: PackageFiles, container: SegmentContainer = .mp4,
        segmentDuration: MediaTime, renditions: [StreamingRendition], variants: [StreamingVariant] = [],
        hasKeyframePlaylists: Bool = true
    ) {
        (self.formats, self.files, self.container) = (formats, files, container)
        self.segmentDuration = segmentDuration
        (self.renditions, self.variants) = (renditions, variants)
        self.hasKeyframePlaylists = hasKeyframePlaylists
    }

    /// Paths of the package's files.
    package var layout: PackageLayout { PackageLayout(files: files, container: container) }

    /// Returns the bytes of each segment in the file of an audio or video rendition; nil with a file for each segment.
    func segmentRanges(of rendition: StreamingRendition) -> [ByteRange]? {
        guard files == .single else { return nil }
        switch container {
        case .mp4: return SegmentIndex.ranges(of: rendition)
        case .ts:
            var offset: Int64 = 0
            return rendition.segments.map { segment in
                defer { offset += segment.size }
                return ByteRange(offset: offset, length: segment.size)
            }
        }
    }

    /// Whether subtitles are divided into segments: HLS with a file for each segment. DASH always refers to the whole
    /// file.
    package var dividesSubtitles: Bool { Self.dividesSubtitles(formats: formats, files: files) }

    /// Returns whether packages of these formats divide subtitles into segments.
    package static func dividesSubtitles(formats: [StreamingFormat], files: PackageFiles) -> Bool {
        formats.contains(.hls) && files == .many
    }

    /// Returns all manifests, referenced ones before those that refer to them.
    ///
    /// - Throws: `StreamingError` if the package is invalid.
    package func manifests() throws(StreamingError) -> [Manifest] {
        try validate()
        var manifests: [Manifest] = []
        if formats.contains(.hls) {
            let target = targetDuration
            for rendition in renditions {
                manifests.append(
                    Manifest(
                        path: layout.playlist(of: rendition.id),
                        text: MediaPlaylist.text(of: rendition, in: self, targetDuration: target)))
                if offersKeyframes(of: rendition) {
                    manifests.append(
                        Manifest(
                            path: layout.keyframePlaylist(of: rendition.id),
                            text: MediaPlaylist.keyframes(of: rendition, in: self, targetDuration: target)))
                }
            }
            manifests.append(
                Manifest(path: layout.multivariantPlaylist, text: MultivariantPlaylist(self).text))
        }
        if formats.contains(.dash) {
            manifests.append(
                Manifest(
                    path: layout.presentationDescription, text: MediaPresentationDescription(self).text))
        }
        return manifests
    }

    /// Whether a rendition has a playlist of keyframes.
    func offersKeyframes(of rendition: StreamingRendition) -> Bool {
        hasKeyframePlaylists && rendition.video != nil && rendition.segments.allSatisfy { $0.keyframe != nil }
    }

    /// HLS's target duration in seconds, which all playlists of audio and video share.
    var targetDuration: Int64 {
        let requested = segmentDuration.microseconds
        return renditions.filter(\.isMedia).reduce(
            max(1, MediaPlaylist.wholeSeconds(requested))
        ) { max($0, MediaPlaylist.targetDuration(of: $1)) }
    }

    /// Start of the earliest audio or video segment.
    var start: MediaTime {
        renditions.filter(\.isMedia).compactMap(\.start).min() ?? .zero
    }
    /// End of the latest audio or video segment.
    var end: MediaTime { renditions.filter(\.isMedia).compactMap(\.end).max() ?? .zero }
}

/// A manifest of a package.
package struct Manifest: Hashable, Sendable {
    /// Path relative to the package's folder.
    package let path: String
    /// Contents, in UTF-8.
    package let text: String
}
