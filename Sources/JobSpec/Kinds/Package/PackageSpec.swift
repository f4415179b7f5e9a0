package import Diagnostics
internal import LibAV
package import Media
package import Streaming

/// A streaming package of a job: a folder with the renditions that the job's outputs without a destination describe,
/// and the manifests that list them.
package struct PackageSpec: Sendable {
    /// Formats of the manifests, without duplicates.
    package var formats: [Located<StreamingFormat>]
    /// Duration of segments.
    package var segment: Located<MediaTime>
    package var files: PackageFiles
    /// Container of audio and video segments.
    package var container: Located<SegmentContainer>
    /// Combinations of video and audio that are offered; empty for every video with every audio rendition.
    package var variants: [Variant]
    /// Groups of audio renditions; empty to form them by format.
    package var audioGroups: [AudioGroup]
    /// Location of the request for playlists of keyframes; nil without them.
    package var keyframePlaylists: SourceRange?
    /// Location of the request for thumbnails, which are a rendition with images; nil without them.
    package var thumbnails: SourceRange?
    /// Outputs without a destination, each with one track; never empty.
    package var renditions: [OutputSpec]
    /// The value's location in the job file.
    package var range: SourceRange

    /// Durations that segments may have.
    package static var segmentDurations: ClosedRange<MediaTime> { Language.segmentDurations.times }

    /// A combination of renditions, by the ids of their outputs.
    package struct Variant: Sendable {
        package var video: Located<String>?
        package var audio: Located<String>?
        /// Name of the group in which the audio is offered; nil to form groups by format.
        package var audioGroup: String?
    }

    /// Audio renditions among which users choose by language.
    package struct AudioGroup: Sendable {
        package var name: Located<String>
        /// Ids of the outputs, without duplicates.
        package var outputs: [String]
    }
}

extension OutputSpec {
    /// The rendition without the properties of its track that the package's manifests describe and its container can't.
    package var storedRendition: OutputSpec {
        var spec = self
        guard let container = container?.value else { return spec }
        for index in spec.tracks.indices {
            spec.tracks[index].disposition = nil
            if !container.hasLanguage(of: spec.tracks[index].mediaType) { spec.tracks[index].language = nil }
            if !container.model.hasTrackTitles { spec.tracks[index].title = nil }
        }
        return spec
    }

    /// Container of the segments of a rendition of a package; nil for other outputs, and for renditions without segments.
    var segmentContainer: SegmentContainer? {
        destination == nil ? container.flatMap { SegmentContainer(rawValue: $0.value.name) } : nil
    }
}
