internal import Media

/// The renditions of a package that are read as one source: the variant with the highest bandwidth, with the audio and the
/// subtitles of its groups.
package struct PackageSelection: Hashable, Sendable {
    /// A file, or a range of it.
    package struct File: Hashable, Sendable {
        /// Path relative to the package's folder.
        package var path: String
        /// Position of the first byte.
        package var start: Int64
        /// Position behind the last byte; nil for the end of the file.
        package var end: Int64?
    }

    /// A rendition that is read.
    package struct Rendition: Hashable, Sendable {
        /// Path of its playlist for HLS, id for DASH.
        package var name: String
        /// Initialization section and segments, in order.
        package var files: [File]
        /// ISO 639-2 code, or the tag of a language without one; nil if the manifest states none.
        package var language: String?
        package var title: String?
        /// Dispositions by libavformat's names.
        package var disposition: [String]
    }

    package var renditions: [Rendition] = []
}

extension PackageReader {
    /// Returns the renditions of a package that are read as one source; `manifest` is the path of its multivariant or media
    /// playlist, or of its MPD.
    ///
    /// - Throws: `PackageReadingError` if a manifest is invalid, too large, refers to files outside of the folder, or has
    ///   properties that reading doesn't support: encryption, discontinuities, several periods, live presentations.
    package static func selection(
        of manifest: String, in folder: some PackageFolder
    ) throws(PackageReadingError) -> PackageSelection {
        var reader = PackageReader(folder)
        let bytes = try reader.contents(of: manifest)
        let listed =
            isXML(bytes)
            ? try selectedRepresentations(bytes, manifest) : try reader.selectedPlaylists(bytes, manifest)
        var selection = PackageSelection()
        for rendition in listed { try selection.add(rendition) }
        return selection
    }

    // MARK: HLS

    private mutating func selectedPlaylists(
        _ bytes: [UInt8], _ manifest: String
    ) throws(PackageReadingError) -> [ListedRendition] {
        let document = try PlaylistDocument(bytes, path: manifest)
        guard document.isMultivariant else {
            return [ListedRendition(PackageDescription.Rendition(manifest, kind: .media), document)]
        }
        let videos = document.variants.filter { $0.resolution != nil }
        guard let variant = (videos.isEmpty ? document.variants : videos).mostExpensive(\.bandwidth) else {
            throw PackageReadingError(manifest, "the playlist has no variants")
        }
        var listed: [ListedRendition] = []
        for reference in document.references {
            let rendition = reference.rendition
            let isPart =
                switch rendition.kind {
                case .audio: rendition.group == variant.audio && rendition.group != nil
                case .subtitles: rendition.group == variant.subtitles && rendition.group != nil
                case .video, .thumbnails, .images, .keyframes, .media, .other: false
                }
            guard rendition.name == variant.path || isPart,
                !listed.contains(where: { $0.rendition.name == rendition.name })
            else { continue }
            let media = try PlaylistDocument(contents(of: rendition.name), path: rendition.name)
            guard !media.isMultivariant else {
                throw PackageReadingError(
                    manifest, line: reference.line,
                    "`\(rendition.name)` is a multivariant playlist; expected a media playlist")
            }
            var found = ListedRendition(rendition, media)
            found.disposition = reference.disposition
            if rendition.name == variant.path { listed.insert(found, at: 0) } else { listed.append(found) }
        }
        return listed
    }

    // MARK: DASH

    private static func selectedRepresentations(
        _ bytes: [UInt8], _ manifest: String
    ) throws(PackageReadingError) -> [ListedRendition] {
        var presentation = PresentationReader(path: manifest)
        let root = try XMLReader.root(bytes, of: manifest)
        let all = try presentation.renditions(of: root).filter { !$0.isAuxiliary }
        if let second = root.all("Period").dropFirst().first {
            throw PackageReadingError(
                manifest, line: second.line, "an MPD with several periods can't be read as one source")
        }
        var selected: [ListedRendition] = []
        let videos = all.filter { $0.rendition.kind == .video || $0.rendition.kind == .media }
        if let video = videos.mostExpensive(\.bandwidth) { selected.append(video) }
        for kind in [RenditionKind.audio, .subtitles] {
            let listed = all.filter { $0.rendition.kind == kind }
            for set in Set(listed.map(\.set)).sorted() {
                if let best = listed.filter({ $0.set == set }).mostExpensive(\.bandwidth) {
                    selected.append(best)
                }
            }
        }
        guard !selected.isEmpty else {
            throw PackageReadingError(manifest, "the MPD has no video, audio or subtitles")
        }
        return selected
    }
}

extension PackageSelection {
    fileprivate mutating func add(_ listed: ListedRendition) throws(PackageReadingError) {
        if let obstacle = listed.obstacle { throw obstacle }
        let name = listed.rendition.name
        guard !listed.rendition.isEncrypted else {
            throw PackageReadingError(name, "the rendition is encrypted")
        }
        renditions.append(
            Rendition(
                name: name,
                files: listed.files.map { File(path: $0.path, start: $0.start, end: $0.end) },
                language: listed.rendition.language.map(Self.language), title: listed.rendition.title,
                disposition: listed.disposition))
    }

    /// Returns the ISO 639-2 code of a language tag's primary language; the tag itself if there is none.
    private static func language(_ tag: String) -> String {
        let primary = tag.split(separator: "-").first.map { $0.lowercased() } ?? tag
        return LanguageTable.codes(of: primary)?.first ?? tag
    }
}

extension Sequence {
    /// Returns the first element with the largest value of a property.
    fileprivate func mostExpensive(_ cost: (Element) -> Int64) -> Element? {
        var best: Element?
        for element in self where best.map({ cost(element) > cost($0) }) ?? true { best = element }
        return best
    }
}

extension ListedRendition {
    /// Peak bit rate in bits per second; 0 if the manifest doesn't state it.
    fileprivate var bandwidth: Int64 { rendition.bandwidth ?? 0 }
}
