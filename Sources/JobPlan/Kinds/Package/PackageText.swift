internal import Diagnostics
internal import Media
package import Streaming

/// The text form of a package's description for the user.
package enum PackageText {
    /// Renders some lines for the package, and one for each variant, rendition and problem.
    package static func render(_ package: PackageDescription, name: String) -> String {
        var lines = [
            name, "  format     \(package.format.rawValue.uppercased())",
            "  duration   \(PlanText.time(package.duration)) (\(package.duration) s)",
        ]
        for variant in package.variants {
            let parts = [
                variant.resolution, variant.frameRate.map { "\($0) frames/s" }, variant.videoRange,
                variant.codecs, "\(variant.bandwidth) bits/s",
                variant.averageBandwidth.map { "average \($0)" }, variant.audio.map { "audio \($0)" },
                variant.subtitles.map { "subtitles \($0)" },
            ]
            lines.append("  variant    \(variant.path): \(parts.compactMap(\.self).joined(separator: ", "))")
        }
        for rendition in package.renditions {
            let parts = [
                rendition.kind.rawValue, rendition.codecs, rendition.resolution, rendition.language,
                rendition.title.map { "“\($0)”" }, rendition.group.map { "group \($0)" },
                rendition.bandwidth.map { "\($0) bits/s" }, counted(rendition.segments, "segment"),
                "\(rendition.duration) s",
                rendition.longestSegment > .zero ? "longest \(rendition.longestSegment) s" : nil,
                "\(counted(rendition.files, "file")) of \(rendition.size) bytes",
                rendition.isEncrypted ? "encrypted" : nil,
            ]
            lines.append(
                "  rendition  \(rendition.name): \(parts.compactMap(\.self).joined(separator: ", "))")
        }
        lines += package.problems.map { "  problem    \($0)" }
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }
}
