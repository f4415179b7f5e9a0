/// A playlist of HLS: a multivariant playlist with references to renditions, or a media playlist with segments.
struct PlaylistDocument {
    private(set) var isMultivariant = false
    /// Type of the content that the playlist itself states: `keyframes` or `images`; nil for other playlists.
    private(set) var kind: RenditionKind?

    // MARK: Multivariant playlists

    private(set) var variants: [PackageDescription.Variant] = []
    private(set) var references: [Reference] = []

    /// A reference to the playlist of a rendition.
    struct Reference {
        /// The rendition, by the path of its playlist.
        let rendition: PackageDescription.Rendition
        /// Line of the reference.
        let line: Int
        /// Dispositions by libavformat's names.
        let disposition: [String]
    }

    // MARK: Media playlists

    private(set) var segmentCount = 0
    private(set) var files: [ListedRendition.File] = []
    /// Duration of all segments in microseconds.
    private(set) var duration: Int64 = 0
    /// Duration of the longest segment in microseconds.
    private(set) var longest: Int64 = 0
    /// Target duration in seconds.
    private(set) var targetDuration: Int64 = 0
    private(set) var isEncrypted = false
    private(set) var hasEnd = false
    /// The reason why the segments can't be read as one source; nil if they can.
    var obstacle: PackageReadingError? {
        hasEnd
            ? firstObstacle
            : PackageReadingError(path, "the playlist isn't complete (`EXT-X-ENDLIST` is missing)")
    }
    private var firstObstacle: PackageReadingError?
    private var hasMap = false

    private let path: String
    private var line = 0
    /// The variant whose URI follows.
    private var pending: PackageDescription.Variant?
    /// Duration of the segment whose URI follows, in microseconds.
    private var pendingDuration: Int64?
    private var pendingRange: String?
    /// Position behind the previous byte range, and its file.
    private var previous: (path: String, end: Int64)?

    init(_ bytes: [UInt8], path: String) throws(PackageReadingError) {
        self.path = path
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PackageReadingError(path, "the playlist isn't UTF-8")
        }
        for written in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            line += 1
            let content = String(decoding: written, as: UTF8.self).trimmed
            if line == 1 {
                guard content == "#EXTM3U" || content == "\u{feff}#EXTM3U" else {
                    throw error("the file isn't a playlist; expected `#EXTM3U`")
                }
            } else if content.utf8.first == UInt8(ascii: "#") {
                try readTag(content)
            } else if !content.isEmpty {
                try readURI(content)
            }
        }
        guard isMultivariant || segmentCount > 0 else {
            throw PackageReadingError(path, "the playlist has neither variants nor segments")
        }
        guard !isMultivariant || segmentCount == 0 else {
            throw PackageReadingError(path, "the playlist has both variants and segments")
        }
    }

    private func error(_ reason: String) -> PackageReadingError {
        PackageReadingError(path, line: line, reason)
    }

    // MARK: Tags

    private mutating func readTag(_ content: String) throws(PackageReadingError) {
        let parts = content.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        let value = parts.count == 2 ? Substring(parts[1]) : ""
        switch String(decoding: parts[0], as: UTF8.self) {
        case "#EXT-X-STREAM-INF": pending = try variant(attributes(value))
        case "#EXT-X-MEDIA": try addMedia(attributes(value))
        case "#EXT-X-I-FRAME-STREAM-INF": try addReference(.keyframes, attributes(value))
        case "#EXT-X-IMAGE-STREAM-INF": try addReference(.images, attributes(value))
        case "#EXT-X-TARGETDURATION":
            guard let seconds = Int64(value), (0...ReadingLimits.duration / 1_000_000).contains(seconds)
            else {
                throw error("invalid target duration")
            }
            targetDuration = seconds
        case "#EXTINF":
            let number = value.utf8.prefix { $0 != UInt8(ascii: ",") }
            guard let microseconds = Self.microseconds(String(decoding: number, as: UTF8.self)) else {
                throw error("invalid duration `\(value.prefix(40))`")
            }
            pendingDuration = microseconds
        case "#EXT-X-BYTERANGE": pendingRange = String(value)
        case "#EXT-X-MAP":
            let attributes = try attributes(value)
            guard let uri = attributes["URI"] else { throw error("`EXT-X-MAP` has no `URI`") }
            if hasMap { note("several initialization sections") }
            hasMap = true
            try addFile(uri, range: attributes["BYTERANGE"])
        case "#EXT-X-KEY":
            if try attributes(value)["METHOD"] != "NONE" { isEncrypted = true }
        case "#EXT-X-I-FRAMES-ONLY": kind = .keyframes
        case "#EXT-X-IMAGES-ONLY": kind = .images
        case "#EXT-X-ENDLIST": hasEnd = true
        case "#EXT-X-DISCONTINUITY": note("a discontinuity")
        case "#EXT-X-GAP": note("a segment without media (`EXT-X-GAP`)")
        default: break
        }
    }

    /// Records why the segments can't be read as one source.
    private mutating func note(_ what: String) {
        firstObstacle = firstObstacle ?? error("\(what) can't be read as part of a source")
    }

    private func attributes(_ text: Substring) throws(PackageReadingError) -> AttributeListReader {
        guard let attributes = AttributeListReader(text.utf8) else { throw error("invalid attributes") }
        return attributes
    }

    private func variant(
        _ attributes: AttributeListReader
    ) throws(PackageReadingError) -> PackageDescription.Variant {
        guard let bandwidth = attributes["BANDWIDTH"].flatMap({ Int64($0) }), bandwidth >= 0 else {
            throw error("`EXT-X-STREAM-INF` has no `BANDWIDTH`")
        }
        return PackageDescription.Variant(
            path: "", bandwidth: bandwidth,
            averageBandwidth: attributes["AVERAGE-BANDWIDTH"].flatMap { Int64($0) },
            codecs: attributes["CODECS"], resolution: attributes["RESOLUTION"],
            frameRate: attributes["FRAME-RATE"], videoRange: attributes["VIDEO-RANGE"],
            audio: attributes["AUDIO"], subtitles: attributes["SUBTITLES"])
    }

    private mutating func addMedia(_ attributes: AttributeListReader) throws(PackageReadingError) {
        // Closed captions and audio in the segments of video have no playlist.
        guard attributes["URI"] != nil else {
            isMultivariant = true
            return
        }
        try addReference(RenditionKind(mediaType: attributes["TYPE"]), attributes)
    }

    private mutating func addReference(
        _ kind: RenditionKind, _ attributes: AttributeListReader
    ) throws(PackageReadingError) {
        guard let uri = attributes["URI"] else { throw error("the tag has no `URI`") }
        var rendition = PackageDescription.Rendition(
            try PackageReference.path(uri, in: path, line: line), kind: kind)
        rendition.codecs = attributes["CODECS"]
        rendition.resolution = attributes["RESOLUTION"]
        rendition.language = attributes["LANGUAGE"]
        rendition.title = attributes["NAME"]
        rendition.group = attributes["GROUP-ID"]
        rendition.bandwidth = attributes["BANDWIDTH"].flatMap { Int64($0) }
        let flags = ["DEFAULT", "FORCED"].filter { attributes[$0] == "YES" }.map { $0.lowercased() }
        let characteristics = attributes["CHARACTERISTICS"]?.split(separator: ",") ?? []
        let disposition = characteristics.compactMap { StreamingRole.disposition(ofCharacteristic: $0) }
        try append(rendition, flags + disposition)
    }

    private mutating func append(
        _ rendition: PackageDescription.Rendition, _ disposition: [String]
    ) throws(PackageReadingError) {
        isMultivariant = true
        guard references.count < 2 * ReadingLimits.renditions else {
            throw error("more than \(2 * ReadingLimits.renditions) references")
        }
        references.append(Reference(rendition: rendition, line: line, disposition: disposition))
    }

    // MARK: URIs

    private mutating func readURI(_ uri: String) throws(PackageReadingError) {
        if var variant = pending {
            variant.path = try PackageReference.path(uri, in: path, line: line)
            pending = nil
            var rendition = PackageDescription.Rendition(
                variant.path, kind: variant.resolution == nil ? .audio : .video)
            rendition.resolution = variant.resolution
            try append(rendition, ["default"])
            return variants.append(variant)
        }
        guard let length = pendingDuration else { throw error("a URI without `EXTINF`") }
        try addFile(uri, range: pendingRange)
        (pendingDuration, pendingRange) = (nil, nil)
        segmentCount += 1
        longest = max(longest, length)
        duration += length
        guard duration <= ReadingLimits.duration else { throw error("the playlist is longer than 10 years") }
    }

    private mutating func addFile(_ uri: String, range: String?) throws(PackageReadingError) {
        let file = try PackageReference.path(uri, in: path, line: line)
        guard files.count < ReadingLimits.segments else {
            throw error("more than \(ReadingLimits.segments) segments")
        }
        guard let range else { return files.append(ListedRendition.File(path: file)) }
        let numbers = range.split(separator: "@", omittingEmptySubsequences: false).map { Int64($0) }
        let start = numbers.count == 2 ? numbers[1] : previous?.path == file ? previous?.end : 0
        guard (1...2).contains(numbers.count), let length = numbers[0], let start, length > 0, start >= 0,
            length <= 1 << 50, start <= 1 << 50
        else { throw error("invalid byte range `\(range.prefix(40))`") }
        previous = (file, start + length)
        files.append(ListedRendition.File(path: file, start: start, end: start + length))
    }

    /// Returns a decimal number of seconds in microseconds; nil for other texts.
    static func microseconds(_ text: String) -> Int64? {
        let parts = text.trimmed.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int64(whole), seconds <= ReadingLimits.duration / 1_000_000
        else { return nil }
        guard parts.count == 2 else { return seconds * 1_000_000 }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let digits = parts[1].prefix(6)
        let fraction = Int64(digits + String(repeating: "0", count: 6 - digits.count)) ?? 0
        return seconds * 1_000_000 + fraction
    }
}
