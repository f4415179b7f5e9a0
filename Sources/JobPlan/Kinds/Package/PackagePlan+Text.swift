internal import JobSpec
internal import LibAV
internal import Media
internal import Streaming

/// The text form of packages.
extension PackagePlan {
    package var title: String { "package" }

    package func summary(of output: OutputPlan) -> String {
        let formats = formats.map { $0.rawValue.uppercased() }.joined(separator: " and ")
        let files = files == .many ? "a file each" : "one file per rendition"
        return
            "\(formats), segments of \(segment) s\(container == .mp4 ? "" : " in \(container.rawValue)"), \(files)"
            + (hasKeyframePlaylists ? ", playlists of keyframes" : "")
    }

    /// Returns the lines of the renditions and variants.
    package func linesAfterTracks(of output: OutputPlan) -> [String] {
        var lines: [String] = []
        for rendition in renditions.map(\.output) {
            lines.append("  rendition  \(rendition.id ?? "")")
            for (index, track) in rendition.tracks.enumerated() {
                lines += PlanText.render(track, index, of: rendition).map { "  " + $0 }
            }
            if let images = rendition.images {
                lines.append("      thumbnails         \(images.text)")
            }
            if let boundaries = rendition.media?.segmentation?.boundaries {
                lines.append("      segments           \(boundaries.count + 1), at keyframes of the source")
            }
        }
        let variants = variants.map { variant in
            [variant.video, variant.audio].compactMap { $0 }.joined(separator: " + ")
        }
        lines.append("  variants   \(variants.joined(separator: ", "))")
        return lines
    }

    package func expectedText(of output: OutputPlan) -> String { PlanText.time(output.expectedDuration) }
}
