internal import Diagnostics
internal import LibAV
internal import Media

/// The text form of a source's description for the user.
package enum ProbeText {
    /// Renders some lines for the file, then one or two for each track.
    package static func render(_ source: SourceDescription, name: String) -> String {
        let about = source.isDurationExact ? "" : "about "
        var lines = [
            name, "  container  \(source.container), \(source.fileSize) bytes",
            "  duration   \(about)\(PlanText.time(source.duration)) (\(source.duration) s)",
        ]
        if source.missingBytes > 0 { lines.append("  truncated  \(source.missingBytes) bytes are missing") }
        if source.timeZero != .zero {
            lines.append("  time zero  \(source.timeZero) s in the file's timestamps")
        }
        for track in source.tracks {
            lines.append("  track \(track.index)    \(LedgerText.plainName(track))")
            let details = details(track)
            if !details.isEmpty { lines.append("             \(details)") }
        }
        for (index, chapter) in source.chapters.enumerated() {
            lines.append(
                "  chapter \(index + 1)  \(chapter.timeRange.start) s to \(chapter.timeRange.end) s"
                    + (chapter.title.map { "  \($0)" } ?? ""))
        }
        for entry in source.metadata {
            lines.append("  tag        \(entry.key) = \(entry.value)")
        }
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }

    private static func details(_ track: TrackDescription) -> String {
        if track.isAttachedPicture { return "" }
        var parts: [String] = ["\(track.timeRange.start) s to \(track.timeRange.end) s"]
        if let count = track.sampleCount { parts.append(counted(count, "sample")) }
        if track.mediaType == .video {
            parts.append(track.pixelFormat.description)
            if let rate = track.frameRate { parts.append("\(rate) frames/s") }
            if let aspect = track.pixelAspectRatio, aspect != Rational(1, 1) {
                parts.append("pixel aspect \(aspect.num):\(aspect.den)")
            }
            if let transform = track.transform, !transform.isIdentity {
                let turn = transform.clockwiseDegrees.map { "rotated \($0)°" } ?? "rotated"
                parts.append(transform.isReflected ? "\(turn), mirrored" : turn)
            }
            if track.isInterlaced { parts.append("interlaced") }
            let color = [
                track.color.primaries, track.color.transfer, track.color.matrix, track.color.range?.rawValue,
            ].compactMap { $0 }
            if !color.isEmpty { parts.append(color.joined(separator: "/")) }
        }
        if !track.isDecodable { parts.append("no decoder in this build") }
        if let title = track.title { parts.append("“\(title)”") }
        return parts.joined(separator: ", ")
    }
}
