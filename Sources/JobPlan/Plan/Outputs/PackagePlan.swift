package import Diagnostics
internal import ExactStrings
package import JobSpec
package import Media
package import Streaming

/// The plan of a streaming package: a folder with renditions in segments, and the manifests that list them.
package struct PackagePlan: Codable, Hashable, Sendable {
    package var formats: [StreamingFormat]
    package var files: PackageFiles
    /// Duration of segments.
    package var segment: MediaTime
    /// Combinations of renditions that players can choose.
    package var variants: [StreamingVariant]
    /// Whether playlists of keyframes are written.
    package var hasKeyframePlaylists: Bool
    package var renditions: [Rendition]
    /// Time from one thumbnail to the next in the rendition with images; nil without thumbnails.
    package var thumbnailInterval: MediaTime?
    /// Location of the request in the job file.
    package var location: SourceRange

    /// A rendition of a package.
    package struct Rendition: Codable, Hashable, Sendable {
        /// The rendition as an output with one track, or with a sheet of images. Its destination is a name in the folder, at which nothing is
        /// written.
        package var output: OutputPlan
        /// Language as in the job file or the source; nil if unknown.
        package var language: String?
        /// Name for players; nil for the default.
        package var title: String?
        /// Dispositions by libavformat's names, such as `default`.
        package var disposition: [String]
    }
}

/// The division of a rendition's track into segments.
package struct SegmentationPlan: Codable, Hashable, Sendable {
    /// Duration of segments: each begins with the first sample at or after a multiple of it at which decoding can start.
    package var interval: MediaTime
    /// Start times of the second and later segments on the output's time line, instead of the multiples; nil unless
    /// video is copied, whose keyframes determine them.
    package var boundaries: [MediaTime]?
}

extension PackagePlan {
    /// Whether the values are consistent. Checked for plans from untrusted input.
    var isValid: Bool {
        let ids = renditions.compactMap(\.output.id)
        let names = Set(ids.map(\.exact))
        return (1...64).contains(renditions.count) && names.count == renditions.count && !formats.isEmpty
            && Set(formats).count == formats.count
            && (MediaTime(value: 1, timescale: 10)...MediaTime(value: 3600, timescale: 1)).contains(segment)
            && ids.allSatisfy(Self.isName)
            && renditions.map(\.output).allSatisfy {
                ($0.isMedia || isSheet($0)) && $0.isValid && $0.tracks.count == 1
            }
            && renditions.count { !$0.output.isMedia } == (thumbnailInterval == nil ? 0 : 1)
            && thumbnailInterval.map { $0 > .zero } ?? true
            && !variants.isEmpty
            && variants.allSatisfy { variant in
                (variant.video != nil || variant.audio != nil)
                    && [variant.video, variant.audio].allSatisfy {
                        $0.map { names.contains($0.exact) } ?? true
                    }
            }
    }

    private func isSheet(_ output: OutputPlan) -> Bool {
        ThumbnailSheet.Format(rawValue: output.container) != nil && output.images?.sheet?.index == nil
            && output.images?.sheet != nil
    }

    /// Returns whether a text is an identifier of the job language, which is safe as a file name.
    private static func isName(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || $0 == 0x5f || $0 == 0x2d
            }
    }
}

extension OutputPlan {
    /// The media that are written for the output, each to a file: the renditions of a package, otherwise the output itself.
    package var written: [OutputPlan] {
        guard let package else { return [self] }
        return package.renditions.map { rendition in
            var rendition = rendition.output
            rendition.input = input
            return rendition
        }
    }

    /// Tracks of the output, or of all renditions of a package.
    package var allTracks: [TrackPlan] { package.map { $0.renditions.flatMap(\.output.tracks) } ?? tracks }

    /// Expectations of the output, or of all renditions of a package.
    package var allExpectations: [Expectation] {
        package.map { $0.renditions.flatMap(\.output.expectations) } ?? expectations
    }
}

extension JobPlan {
    /// The job with the renditions of packages in place of the packages, as it is worked on.
    package var expanded: JobPlan {
        var plan = self
        plan.outputs = outputs.flatMap(\.written)
        return plan
    }
}

extension OutputTask {
    /// Tasks of what is written for the output: the renditions of a package, otherwise the task itself.
    package var written: [OutputTask] {
        output.written.map { rendition in
            var task = self
            task.output = rendition
            return task
        }
    }
}
