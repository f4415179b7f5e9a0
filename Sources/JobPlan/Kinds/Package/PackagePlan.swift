package import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
package import Media
package import Publishing
package import Streaming

/// The plan of a streaming package: a folder with renditions in segments, and the manifests that list them.
package struct PackagePlan: Codable, Hashable, Sendable {
    package var formats: [StreamingFormat]
    package var files: PackageFiles
    /// Container of audio and video segments.
    package var container: SegmentContainer
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

extension PackagePlan.Rendition: RecipeConvertible {
    private struct Recipe: Encodable {
        var id: String?
        var output: OutputPlan
        var language: String?
        var title: String?
        var disposition: [String]
    }

    /// The rendition with the id of its output, which names the files.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        Recipe(id: output.id, output: output, language: language, title: title, disposition: disposition)
    }
}

extension PackagePlan {
    /// Returns what the value at a path in the encoded form belongs to.
    static func subject(of path: ArraySlice<String>) -> RecipeName.Subject {
        // The first two components are the list and the rendition's index.
        guard path.first.flatMap(CodingKeys.init(stringValue:)) == .renditions else { return .other }
        return Rendition.subject(of: path.dropFirst(2))
    }
}

extension PackagePlan.Rendition {
    fileprivate static func subject(of path: ArraySlice<String>) -> RecipeName.Subject {
        guard path.first.flatMap(CodingKeys.init(stringValue:)) == .output,
            case .track(_, let part) = OutputPlan.subject(of: path.dropFirst())
        else { return .other }
        return .rendition(part)
    }
}

extension PackagePlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool {
        let ids = renditions.compactMap(\.output.id)
        let names = Set(ids.map(\.exact))
        return output.tracks.isEmpty
            && (1...64).contains(renditions.count) && names.count == renditions.count && !formats.isEmpty
            && Set(formats).count == formats.count && formats.allSatisfy(container.formats.contains)
            && output.container == container.rawValue
            && PackageSpec.segmentDurations.contains(segment)
            && renditions.map(\.output).allSatisfy(hasSegments)
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
                    && variant.audioGroup.map(Self.isName) ?? true
            }
    }

    package var destinationKind: DestinationPath.Kind? { .folder }
    package var isCopiedToPublish: Bool { true }

    /// Each rendition is kept on its own.
    package func isCacheable(_ output: OutputPlan) -> Bool { false }

    /// A package no longer contains the files that were evaluated.
    package var isReevaluable: Bool { false }

    package var writtenOutputs: [OutputPlan]? { renditions.map(\.output) }

    package func failureName(of written: OutputPlan, beside name: String) -> (stem: String, ending: String?) {
        guard let id = written.id else { return name.nameParts }
        let container = ContainerType.named(written.container)
        return ("\(name).\(id)", container?.model.extensions.first ?? written.container)
    }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        renditions.map(\.output).reduce(OutputCost()) { $0 + $1.kind.plan.cost(of: $1, in: job) }
    }

    /// Whether a rendition is divided as the package states: audio and video are, subtitles and images aren't.
    private func hasSegments(_ output: OutputPlan) -> Bool {
        let types: [MediaType] = [.video, .audio]
        let isDivided =
            output.isMedia && output.tracks.first.map { types.contains($0.source.mediaType) } == true
        guard isDivided else { return output.media?.segmentation == nil }
        return output.media?.segmentation?.interval == segment && output.container == container.rawValue
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
