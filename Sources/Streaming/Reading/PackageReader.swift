internal import ExactStrings
internal import LibAV
internal import Media

/// A reader of packages in a folder. Files outside of the folder are never read, and nothing is decoded.
package struct PackageReader {
    private let folder: any PackageFolder
    /// Bytes of manifests that may still be read.
    private var budget = ReadingLimits.manifests
    /// Segments that may still be listed.
    private var segments = ReadingLimits.segments
    private var sizes: [ExactString: Int64?] = [:]

    init(_ folder: any PackageFolder) { self.folder = folder }

    /// Returns the description of a package; `manifest` is the path of its multivariant or media playlist, or of its MPD.
    ///
    /// - Throws: `PackageReadingError` if a manifest is invalid, too large, or refers to files outside of the folder.
    package static func description(
        of manifest: String, in folder: some PackageFolder
    ) throws(PackageReadingError) -> PackageDescription {
        var reader = PackageReader(folder)
        let bytes = try reader.contents(of: manifest)
        var description: PackageDescription
        if isXML(bytes) {
            description = PackageDescription(.dash)
            var presentation = PresentationReader(path: manifest)
            for listed in try presentation.renditions(of: XMLReader.root(bytes, of: manifest)) {
                try reader.add(listed, to: &description)
            }
        } else {
            description = PackageDescription(.hls)
            try reader.readHLS(bytes, manifest, into: &description)
        }
        description.duration = description.renditions.map(\.duration).max() ?? .zero
        return description
    }

    /// Returns whether a path is that of a manifest, by its extension.
    package static func isManifest(_ path: String) -> Bool {
        let ending = (path.pathParts.last ?? "").nameParts.ending?.lowercased()
        return ending == "m3u8" || ending == "mpd"
    }

    /// Returns whether a manifest is XML, and so an MPD.
    static func isXML(_ bytes: [UInt8]) -> Bool {
        bytes.first { ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains($0) } == UInt8(ascii: "<")
    }

    /// Returns the bytes of a manifest or playlist.
    mutating func contents(of path: String) throws(PackageReadingError) -> [UInt8] {
        let limit = min(ReadingLimits.manifest, budget)
        guard limit > 0 else {
            throw PackageReadingError(
                path, "the manifests have more than \(ReadingLimits.manifests >> 20) MB together")
        }
        let bytes = try folder.contents(of: path, limit: limit)
        budget -= bytes.count
        return bytes
    }

    // MARK: HLS

    private mutating func readHLS(
        _ bytes: [UInt8], _ manifest: String, into description: inout PackageDescription
    ) throws(PackageReadingError) {
        let document = try PlaylistDocument(bytes, path: manifest)
        guard document.isMultivariant else {
            let rendition = PackageDescription.Rendition(manifest, kind: document.kind ?? .media)
            return try add(ListedRendition(rendition, document), to: &description)
        }
        description.variants = document.variants
        for reference in document.references {
            var rendition = reference.rendition
            let line = reference.line
            let path = rendition.name
            if description.renditions.contains(where: { $0.name == path }) { continue }
            guard description.renditions.count < ReadingLimits.renditions else {
                throw PackageReadingError(
                    manifest, line: line, "more than \(ReadingLimits.renditions) renditions")
            }
            let media = try PlaylistDocument(contents(of: path), path: path)
            guard !media.isMultivariant else {
                throw PackageReadingError(
                    manifest, line: line, "`\(path)` is a multivariant playlist; expected a media playlist")
            }
            rendition.kind = media.kind ?? rendition.kind
            try add(ListedRendition(rendition, media), to: &description)
        }
    }

    // MARK: Files

    /// Adds a rendition after measuring its files.
    private mutating func add(
        _ listed: ListedRendition, to description: inout PackageDescription
    ) throws(PackageReadingError) {
        var rendition = listed.rendition
        rendition.segments = listed.segmentCount
        segments -= max(listed.files.count, listed.segmentCount)
        guard segments >= 0 else {
            throw PackageReadingError(
                rendition.name, "the package has more than \(ReadingLimits.segments) segments")
        }
        var known: Set<ExactString> = []
        var missing: [String] = []
        var missingRange: String?
        for file in listed.files {
            if sizes[file.path.exact] == nil { sizes[file.path.exact] = .some(folder.size(of: file.path)) }
            guard let size = sizes[file.path.exact] ?? nil else {
                if known.insert(file.path.exact).inserted { missing.append(file.path) }
                continue
            }
            if let end = file.end, end > size { missingRange = missingRange ?? file.path }
            if known.insert(file.path.exact).inserted {
                rendition.size = rendition.size.addingReportingOverflow(size).partialValue
            }
        }
        rendition.files = known.count
        if let first = missing.first {
            let count = missing.count == 1 ? "1 file is" : "\(missing.count) files are"
            description.problems.append("\(rendition.name): \(count) missing, such as \(first)")
        }
        if let missingRange {
            description.problems.append(
                "\(rendition.name): a byte range is behind the end of \(missingRange)")
        }
        description.problems += listed.problems.map { "\(rendition.name): \($0)" }
        description.renditions.append(rendition)
    }
}

/// A rendition of a manifest with references to its files.
struct ListedRendition {
    /// A file, or a range of it.
    struct File {
        let path: String
        /// Position of the first byte.
        var start: Int64 = 0
        /// Position behind the last byte; nil for the end of the file.
        var end: Int64?
    }

    var rendition: PackageDescription.Rendition
    /// Number of media segments.
    var segmentCount: Int
    /// Files of the initialization sections and the segments.
    var files: [File]
    var problems: [String] = []
    /// Index of its adaptation set; 0 for HLS.
    var set = 0
    /// Whether it only supports the others, as trick modes do.
    var isAuxiliary = false
    /// Dispositions by libavformat's names.
    var disposition: [String] = []
    /// The reason why its segments can't be read as one source; nil if they can.
    var obstacle: PackageReadingError?

    init(_ rendition: PackageDescription.Rendition) {
        (self.rendition, segmentCount, files) = (rendition, 0, [])
    }

    init(_ rendition: PackageDescription.Rendition, _ playlist: PlaylistDocument) {
        self.init(rendition)
        (segmentCount, files) = (playlist.segmentCount, playlist.files)
        obstacle = playlist.obstacle
        self.rendition.duration = MediaTime(value: playlist.duration, timescale: 1_000_000).reduced
        self.rendition.longestSegment = MediaTime(value: playlist.longest, timescale: 1_000_000).reduced
        self.rendition.isEncrypted = playlist.isEncrypted
        if !playlist.hasEnd { problems.append("the playlist isn't complete (`EXT-X-ENDLIST` is missing)") }
        if MediaPlaylist.wholeSeconds(playlist.longest) > playlist.targetDuration {
            problems.append(
                "a segment is longer than the target duration of \(playlist.targetDuration) s")
        }
    }
}
