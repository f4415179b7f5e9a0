internal import Media

/// Media playlists of HLS (RFC 8216bis, 4.4.3) for renditions that are complete.
enum MediaPlaylist {
    /// Versions of the protocol that playlists require.
    enum Version: Int {
        /// Fractional durations.
        case fractions = 3
        /// Byte ranges, and playlists of keyframes.
        case ranges = 4
        /// An initialization section for keyframes.
        case keyframes = 5
        /// An initialization section in other playlists.
        case initialization = 6
        /// Playlists of tiled images, by the number in the examples of their specification.
        case images = 7
    }

    /// Number of decimals in durations, as units per second.
    static let unitsPerSecond: Int64 = 1_000_000

    /// Returns durations that are rounded to microseconds, so that the sum up to any segment differs from its exact
    /// start by less than a unit.
    static func durations(of rendition: StreamingRendition) -> [Int64] {
        let boundaries = rendition.boundaries
        guard let first = boundaries.first else { return [] }
        let scale = Int128(max(1, rendition.timescale))
        let times = boundaries.map { tick in
            Int64(
                clamping: ((Int128(tick) - Int128(first)) * Int128(unitsPerSecond) + scale / 2) / scale)
        }
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }

    /// Returns the number of whole seconds nearest to a duration in microseconds.
    static func wholeSeconds(_ duration: Int64) -> Int64 {
        let (seconds, rest) = duration.quotientAndRemainder(dividingBy: unitsPerSecond)
        return seconds + (rest >= unitsPerSecond / 2 ? 1 : 0)
    }

    /// Returns the least target duration that a rendition allows: the longest segment, rounded to the nearest second.
    static func targetDuration(of rendition: StreamingRendition) -> Int64 {
        durations(of: rendition).reduce(1) { max($0, wholeSeconds($1)) }
    }

    /// Returns the playlist of a rendition: of thumbnails, as the image media playlist specification (Disney, Roku; version
    /// 0.4) describes it, otherwise of RFC 8216bis. Subtitles that aren't divided are one segment, which lasts as long as the
    /// package.
    static func text(
        of rendition: StreamingRendition, in package: StreamingPackage, targetDuration: Int64
    ) -> String {
        let layout = package.layout
        if let sheet = rendition.thumbnails { return thumbnails(sheet, in: package) }
        guard rendition.subtitles == nil else {
            return subtitles(rendition, in: package, targetDuration: targetDuration)
        }
        let ranges = package.segmentRanges(of: rendition)
        let map = map(of: rendition, in: package)
        let version: Version = map != nil ? .initialization : ranges != nil ? .ranges : .fractions
        var lines = head(version, targetDuration: targetDuration)
        if let map { lines.append(map) }
        for (index, duration) in durations(of: rendition).enumerated() {
            lines.append("#EXTINF:\(seconds(duration)),")
            if let ranges { lines.append("#EXT-X-BYTERANGE:\(ranges[index].hls)") }
            lines.append(layout.segmentName(index))
        }
        return end(lines)
    }

    private static func thumbnails(_ sheet: ThumbnailSheet, in package: StreamingPackage) -> String {
        let duration = microseconds(of: package)
        var attributes = AttributeList()
        attributes.add("RESOLUTION", "\(sheet.width)x\(sheet.height)")
        attributes.add("LAYOUT", "\(sheet.columns)x\(sheet.rows)")
        attributes.add("DURATION", seconds(max(1, sheet.interval.microseconds)))
        let lines =
            head(.images, targetDuration: max(1, wholeSeconds(duration))) + [
                "#EXT-X-IMAGES-ONLY", "#EXTINF:\(seconds(duration)),", "#EXT-X-TILES:\(attributes.text)",
                package.layout.thumbnailsName(sheet),
            ]
        return end(lines)
    }

    private static func subtitles(
        _ rendition: StreamingRendition, in package: StreamingPackage, targetDuration: Int64
    ) -> String {
        let layout = package.layout
        var entries = durations(of: rendition).enumerated().map { index, duration in
            (duration: duration, name: layout.subtitleSegmentName(index))
        }
        if !package.dividesSubtitles {
            entries = [(microseconds(of: package), layout.subtitlesName)]
        }
        // Playlists of subtitles may have another target duration.
        let target = entries.reduce(targetDuration) { max($0, wholeSeconds($1.duration)) }
        var lines = head(.fractions, targetDuration: target)
        for entry in entries { lines += ["#EXTINF:\(seconds(entry.duration)),", entry.name] }
        return end(lines)
    }

    /// Returns the playlist of a video rendition's keyframes, each of which is presented until the next one.
    static func keyframes(
        of rendition: StreamingRendition, in package: StreamingPackage, targetDuration: Int64
    ) -> String {
        let layout = package.layout
        let map = map(of: rendition, in: package)
        var lines = head(map == nil ? .ranges : .keyframes, targetDuration: targetDuration)
        lines.append("#EXT-X-I-FRAMES-ONLY")
        if let map { lines.append(map) }
        let starts =
            package.segmentRanges(of: rendition)?.map(\.offset)
            ?? Array(repeating: 0, count: rendition.segments.count)
        let durations = durations(of: rendition)
        for (index, segment) in rendition.segments.enumerated() {
            guard let keyframe = segment.keyframe else { continue }
            let range = ByteRange(offset: starts[index] + keyframe.offset, length: keyframe.length)
            lines += [
                "#EXTINF:\(seconds(durations[index])),", "#EXT-X-BYTERANGE:\(range.hls)",
                layout.segmentName(index),
            ]
        }
        return end(lines)
    }

    private static func head(_ version: Version, targetDuration: Int64) -> [String] {
        [
            "#EXTM3U", "#EXT-X-VERSION:\(version.rawValue)", "#EXT-X-TARGETDURATION:\(targetDuration)",
            "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
    }

    /// Returns the reference to the initialization section; nil for transport streams, which begin with their tables.
    private static func map(of rendition: StreamingRendition, in package: StreamingPackage) -> String? {
        guard package.container == .mp4 else { return nil }
        var attributes = AttributeList()
        attributes.add("URI", quoted: package.layout.initializationName)
        if package.files == .single {
            let range = ByteRange(offset: 0, length: rendition.initializationSize)
            attributes.add("BYTERANGE", quoted: range.hls)
        }
        return "#EXT-X-MAP:\(attributes.text)"
    }

    private static func end(_ lines: [String]) -> String {
        (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    /// Returns microseconds as seconds with six decimals.
    private static func seconds(_ duration: Int64) -> String {
        let (seconds, rest) = duration.quotientAndRemainder(dividingBy: unitsPerSecond)
        return "\(seconds).\(padded(rest, digits: 6))"
    }

    /// Returns the duration of a package in microseconds, at least 1.
    static func microseconds(of package: StreamingPackage) -> Int64 {
        max(1, (package.end - package.start).microseconds)
    }
}
