internal import JobSpec
internal import LibAV
internal import Media
internal import Streaming

/// The text form of packages.
extension PlanText {
    /// Returns the formats and the division of a package.
    static func summary(of package: PackagePlan) -> String {
        let formats = package.formats.map { $0.rawValue.uppercased() }.joined(separator: " and ")
        let files = package.files == .many ? "a file each" : "one file per rendition"
        return "\(formats), segments of \(package.segment) s, \(files)"
            + (package.hasKeyframePlaylists ? ", playlists of keyframes" : "")
    }

    /// Returns the lines of a package's renditions and variants.
    static func renditions(of package: PackagePlan) -> [String] {
        var lines: [String] = []
        for rendition in package.renditions.map(\.output) {
            lines.append("  rendition  \(rendition.id ?? "")")
            for (index, track) in rendition.tracks.enumerated() {
                lines += render(track, index, areStills: rendition.images != nil).map { "  " + $0 }
            }
            if let images = rendition.images {
                lines.append("      thumbnails         \(described(images))")
            }
            if let boundaries = rendition.segmentation?.boundaries {
                lines.append("      segments           \(boundaries.count + 1), at keyframes of the source")
            }
        }
        let variants = package.variants.map { variant in
            [variant.video, variant.audio].compactMap { $0 }.joined(separator: " + ")
        }
        lines.append("  variants   \(variants.joined(separator: ", "))")
        return lines
    }
}
