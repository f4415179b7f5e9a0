internal import Diagnostics
internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import FileSystem
internal import Publishing
internal import Streaming

/// Assembles the folder of a package from the files of its renditions, and writes its manifests.
struct PackageAssembler {
    let package: PackagePlan
    /// Location of the package in the job file.
    let location: SourceRange
    /// Absolute path of the folder.
    let destination: String
    let root: PathRoot

    /// Maximum size of a subtitle rendition in bytes.
    private static let mostSubtitles: Int64 = 64 << 20

    /// The origin of a rendition's files.
    private enum Origin {
        case written(WrittenFile)
        /// The published folder of an earlier run.
        case published(PublishedFolder)
    }

    /// Returns the complete folder, which is not published yet, the descriptions of all renditions, and the summary of the
    /// package. `reused` renditions, by id, are taken from the folder at the destination; all others from written files.
    func assemble(
        _ written: [WrittenFile], reusing reused: [String: StreamingRendition]
    ) throws -> (folder: TemporaryFolder, renditions: [StreamingRendition], summary: PackageSummary) {
        let files = Dictionary(
            written.map { ($0.task.output.id ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        let earlier = reused.isEmpty ? nil : try PublishedFolder(destination, in: root)
        var renditions: [StreamingRendition] = []
        var origins: [Origin] = []
        var texts: [Int: [UInt8]] = [:]
        for (index, rendition) in package.renditions.enumerated() {
            let id = rendition.output.id ?? ""
            var description: StreamingRendition?
            if let known = reused[id], let earlier {
                origins.append(.published(earlier))
                description = known
            } else if let file = files[id] {
                origins.append(.written(file))
                description = file.findings.rendition
            } else {
                throw MediaError.internalError("a rendition without its file")
            }
            if isText(rendition) {
                let text = try playable(text(of: id, from: origins[index]))
                texts[index] = text
                description = StreamingRendition(
                    id: id, kind: .subtitles(.init(fileSize: Int64(text.count))), codec: nil, timescale: 1000,
                    initializationSize: 0, segments: [])
            } else if let images = rendition.output.images, case .written(let file) = origins[index] {
                description = try thumbnails(images, rendition, size: file.file.size)
            }
            guard let description, hasKind(of: rendition, description) else {
                throw MediaError.internalError("a rendition without its segments")
            }
            renditions.append(labelled(description, as: rendition))
        }
        try checkAlignment(of: renditions)
        var description = StreamingPackage(
            formats: package.formats, files: package.files, container: package.container,
            segmentDuration: package.segment, renditions: renditions,
            variants: package.variants,
            hasKeyframePlaylists: package.hasKeyframePlaylists)
        let folder = try TemporaryFolder(destination: destination, in: root)
        var added: [TemporaryFolder.File] = []
        for (index, origin) in origins.enumerated() {
            if let text = texts[index] {
                // Divided text may take several times its size in memory, which is freed before the next one.
                try folder.add(try self.files(of: text, of: &description, at: index))
                continue
            }
            switch origin {
            case .written(let file):
                added += try self.files(
                    of: renditions[index], from: file.file, file.findings.parts, description.layout)
            case .published(let earlier):
                try take(renditions[index], from: earlier, description.layout, to: folder)
            }
        }
        added += try description.manifests().map {
            TemporaryFolder.File($0.path, [.bytes(Array($0.text.utf8))])
        }
        try folder.add(added)
        for file in written { file.file.empty() }
        return (folder, renditions, description.summary)
    }

    /// Returns the description of a sheet of thumbnails with a file of `size` bytes.
    private func thumbnails(
        _ images: ImagesPlan, _ rendition: PackagePlan.Rendition, size: Int64
    ) throws -> StreamingRendition {
        guard let sheet = images.sheet, let interval = package.thumbnailInterval,
            let format = ThumbnailSheet.Format(rawValue: rendition.output.container),
            case .encode(let encoding)? = rendition.output.tracks.first?.action
        else { throw MediaError.internalError("thumbnails without a sheet") }
        return StreamingRendition(
            id: rendition.output.id ?? "",
            kind: .thumbnails(
                ThumbnailSheet(
                    format: format, columns: sheet.columns, rows: sheet.rows, width: encoding.encoder.width,
                    height: encoding.encoder.height, interval: interval, fileSize: size)),
            codec: nil, timescale: 1000, initializationSize: 0, segments: [])
    }

    private func isText(_ rendition: PackagePlan.Rendition) -> Bool {
        rendition.output.tracks.first?.source.mediaType == .subtitle
    }

    private func isAudio(_ rendition: PackagePlan.Rendition) -> Bool {
        rendition.output.tracks.first?.source.mediaType == .audio
    }

    // MARK: Descriptions

    /// Whether a description, which may be a worker's, is of the kind that the plan requires.
    private func hasKind(of planned: PackagePlan.Rendition, _ found: StreamingRendition) -> Bool {
        let type = planned.output.images == nil ? planned.output.tracks.first?.source.mediaType : nil
        return switch found.kind {
        case .video: type == .video
        case .audio: type == .audio
        case .subtitles: type == .subtitle
        case .thumbnails: type == nil
        }
    }

    /// Returns a rendition that a worker described, with the id and the labels of the plan.
    private func labelled(
        _ found: StreamingRendition, as planned: PackagePlan.Rendition
    ) -> StreamingRendition {
        var rendition = found
        rendition.id = planned.output.id ?? ""
        rendition.language = planned.language.flatMap { LanguageTag($0) }
        rendition.title = planned.title
        rendition.isDefault = planned.disposition.contains("default")
        rendition.roles = StreamingRole.roles(
            ofDisposition: planned.disposition, isAudio: isAudio(planned))
        return rendition
    }

    /// Verifies that segments of all video renditions begin at the same times, so that players can change between them.
    private func checkAlignment(of renditions: [StreamingRendition]) throws {
        var first: StreamingRendition?
        for rendition in renditions {
            guard case .video = rendition.kind else { continue }
            for (index, segment) in rendition.segments.enumerated() where segment.keyframe == nil {
                throw failure(
                    "segment \(index + 1) of `\(rendition.id)` doesn't begin with a keyframe, at \(segment.start) s"
                )
            }
            guard let other = first else {
                first = rendition
                continue
            }
            let (starts, others) = (rendition.segments.map(\.start), other.segments.map(\.start))
            if let index = zip(starts, others).enumerated().first(where: { $1.0 != $1.1 })?.offset {
                throw failure(
                    "segment \(index + 1) begins at \(starts[index]) s in `\(rendition.id)` and at \(others[index]) s in `\(other.id)`"
                )
            }
            if starts.count != others.count {
                throw failure(
                    "`\(rendition.id)` has \(starts.count) segments, `\(other.id)` has \(others.count)")
            }
        }
    }

    private func failure(_ problem: String) -> JobFailure {
        JobFailure("the segments of the package can't be aligned: \(problem)", at: location)
    }

    // MARK: Files

    /// Returns the files of a rendition that `file` contains.
    private func files(
        of rendition: StreamingRendition, from file: TemporaryFile, _ parts: [TemporaryFile.Part],
        _ layout: PackageLayout
    ) throws -> [TemporaryFolder.File] {
        if case .thumbnails(let sheet) = rendition.kind {
            let whole = TemporaryFile.Part(offset: 0, length: file.size)
            return [.init(layout.thumbnails(sheet, of: rendition.id), [.part(file, whole)])]
        }
        // The parts follow one another, so that no more bytes are copied than were written.
        var end: Int64 = 0
        let isInOrder = parts.allSatisfy { part in
            defer { end = part.offset + part.length }
            return part.offset == end && part.length > 0
        }
        let header = rendition.initializationSize > 0 ? [rendition.initializationSize] : []
        let sizes = header + rendition.segments.map(\.size)
        guard isInOrder, end <= file.size, parts.map(\.length) == sizes, let first = parts.first else {
            throw MediaError.internalError(
                "\(parts.count) parts of a rendition with \(rendition.segments.count) segments")
        }
        guard package.files == .many else {
            let whole = TemporaryFile.Part(offset: 0, length: end)
            let media = TemporaryFile.Part(offset: first.length, length: end - first.length)
            guard package.container == .mp4 else {
                return [.init(layout.segment(0, of: rendition.id), [.part(file, whole)])]
            }
            return [
                .init(
                    layout.initialization(of: rendition.id),
                    [.part(file, first), .bytes(try SegmentIndex(rendition).bytes), .part(file, media)])
            ]
        }
        let segments = package.container == .mp4 ? parts.dropFirst() : parts[...]
        let initialization =
            package.container == .mp4
            ? [TemporaryFolder.File(layout.initialization(of: rendition.id), [.part(file, first)])] : []
        return initialization
            + segments.enumerated().map { index, part in
                .init(layout.segment(index, of: rendition.id), [.part(file, part)])
            }
    }

    /// Returns the files of a subtitle rendition, and adds its segments to the description.
    private func files(
        of text: [UInt8], of description: inout StreamingPackage, at index: Int
    ) throws -> [TemporaryFolder.File] {
        let (id, layout) = (description.renditions[index].id, description.layout)
        var files = [TemporaryFolder.File(layout.subtitles(of: id), [.bytes(text)])]
        guard description.dividesSubtitles else { return files }
        let ranges = self.ranges(of: description)
        let divided = try WebVTTDocument(text).divided(
            into: ranges, mediaTime: package.container.profile.timestampOffset)
        for (number, (range, text)) in zip(ranges, divided).enumerated() {
            files.append(.init(layout.subtitleSegment(number, of: id), [.bytes(text)]))
            description.renditions[index].segments.append(
                StreamingSegment(start: range.start, duration: range.duration, size: Int64(text.count)))
        }
        return files
    }

    /// Returns the time ranges of subtitle segments: those of the first rendition's segments, from 0 on.
    private func ranges(of description: StreamingPackage) -> [TimeRange] {
        let segments =
            description.renditions.first { rendition in
                switch rendition.kind {
                case .video, .audio: true
                case .subtitles, .thumbnails: false
                }
            }?.segments ?? []
        guard let last = segments.last else { return [] }
        let starts = [.zero] + segments.dropFirst().map(\.start)
        let ends = segments.dropFirst().map(\.start) + [last.start + last.duration]
        return zip(starts, ends).map { TimeRange(start: $0, end: $1) }
    }

    /// Adds the files of a rendition from the published folder.
    private func take(
        _ rendition: StreamingRendition, from earlier: PublishedFolder, _ layout: PackageLayout,
        to folder: TemporaryFolder
    ) throws {
        if case .thumbnails(let sheet) = rendition.kind {
            return try folder.take(
                layout.thumbnails(sheet, of: rendition.id), of: sheet.fileSize, from: earlier)
        }
        guard package.files == .many else {
            let index = package.container == .mp4 ? try SegmentIndex(rendition).bytes.count : 0
            let sizes = [rendition.initializationSize, Int64(index)] + rendition.segments.map(\.size)
            let size = sizes.reduce(Int64(0)) { $0.adding(upToLimit: $1) }
            return try folder.take(layout.segment(0, of: rendition.id), of: size, from: earlier)
        }
        if package.container == .mp4 {
            try folder.take(
                layout.initialization(of: rendition.id), of: rendition.initializationSize, from: earlier)
        }
        for (index, segment) in rendition.segments.enumerated() {
            try folder.take(layout.segment(index, of: rendition.id), of: segment.size, from: earlier)
        }
    }

    /// Returns subtitles with a timestamp map, if playlists refer to the whole text and segments have other timestamps.
    private func playable(_ text: [UInt8]) throws -> [UInt8] {
        let offset = package.container.profile.timestampOffset
        let isDivided = StreamingPackage.dividesSubtitles(formats: package.formats, files: package.files)
        return offset == .zero || isDivided ? text : try WebVTTDocument(text).mapped(to: offset)
    }

    /// Returns the WebVTT text of a subtitle rendition.
    private func text(of id: String, from origin: Origin) throws -> [UInt8] {
        switch origin {
        case .published(let earlier):
            return try earlier.contents(
                of: PackageLayout(files: package.files).subtitles(of: id), limit: Self.mostSubtitles
            )
        case .written(let written):
            let size = written.file.size
            guard size <= Self.mostSubtitles else {
                throw JobFailure(
                    "`\(id)` has \(size) bytes of subtitles; at most \(Self.mostSubtitles) are supported",
                    at: location)
            }
            return try written.file.bytes(of: TemporaryFile.Part(offset: 0, length: size))
        }
    }
}
