internal import LibAV
internal import Media

/// The static media presentation description (MPD) of a package (ISO/IEC 23009-1).
///
/// Many files are described by segment templates with time lines, single files by the range of their index. There is no
/// trick mode set: its segments must be complete movie fragments of keyframes, while a package has only byte ranges at the
/// beginning of other segments.
struct MediaPresentationDescription {
    private let package: StreamingPackage
    private let rates: [String: BitRates]

    init(_ package: StreamingPackage) {
        self.package = package
        rates = package.bitRates
    }

    /// The complete document.
    var text: String {
        var root = XMLElement("MPD")
        root.set("xmlns", "urn:mpeg:dash:schema:mpd:2011")
        root.set("profiles", profiles)
        root.set("type", "static")
        root.set("mediaPresentationDuration", Self.duration(package.end - package.start))
        if package.files == .many { root.set("maxSegmentDuration", Self.duration(longestSegment)) }
        root.set("minBufferTime", Self.duration(minBufferTime))
        var period = XMLElement("Period")
        period.set("id", "1")
        period.set("start", "PT0S")
        for (index, renditions) in AdaptationSets(package.renditions).sets.enumerated() {
            period.add(adaptationSet(renditions, id: index + 1))
        }
        root.add(period)
        return root.document
    }

    private var profiles: String {
        let main =
            package.files == .many
            ? "urn:mpeg:dash:profile:isoff-live:2011" : "urn:mpeg:dash:profile:isoff-on-demand:2011"
        // CMAF fragments don't depend on earlier ones.
        let isCMAF = package.renditions.allSatisfy { $0.video?.accessPoint != .open }
        return isCMAF ? "\(main),urn:mpeg:dash:profile:cmaf:2019" : main
    }

    // MARK: Times

    private var media: [StreamingRendition] { package.renditions.filter(\.isMedia) }

    private var longestSegment: MediaTime {
        media.reduce(.zero) { longest, rendition in
            let boundaries = rendition.boundaries
            let ticks = zip(boundaries, boundaries.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) }
            return max(longest, MediaTime(value: ticks, timescale: rendition.timescale))
        }
    }

    /// The buffer that a player needs, in seconds, if it receives each rendition at exactly its `bandwidth`: each
    /// segment is complete when its presentation begins, whichever segment the player starts with. Rounded up to
    /// tenths of a second.
    private var minBufferTime: MediaTime {
        let tenths = media.reduce(Int64(1)) { most, rendition in
            max(most, Self.bufferTenths(of: rendition, bitRate: rates[rendition.id]?.peak ?? 1))
        }
        return MediaTime(value: tenths, timescale: 10)
    }

    private static func bufferTenths(of rendition: StreamingRendition, bitRate: Int64) -> Int64 {
        let boundaries = rendition.boundaries
        let (scale, rate) = (Int128(rendition.timescale), Int128(max(1, bitRate)))
        // All in units of 1 / (timescale * bit rate) seconds: the transfer that remains when a segment's turn comes, with
        // the worst start of playback, grows by the segment, and shrinks by the presentation of the one before.
        var (pending, most): (Int128, Int128) = (0, 0)
        for (index, segment) in rendition.segments.enumerated() {
            if index > 0 {
                let passed = (Int128(boundaries[index]) - Int128(boundaries[index - 1])) * rate
                pending = max(0, pending - passed)
            }
            pending += Int128(segment.size) * 8 * scale
            most = max(most, pending)
        }
        return Int64(clamping: (most * 10 + scale * rate - 1) / (scale * rate))
    }

    /// Returns a duration as XML Schema writes it, with microseconds.
    private static func duration(_ time: MediaTime) -> String { "PT\(time)S" }

    // MARK: Adaptation sets

    private func adaptationSet(_ renditions: [StreamingRendition], id: Int) -> XMLElement {
        var element = XMLElement("AdaptationSet")
        element.set("id", id)
        guard let first = renditions.first else { return element }
        if let sheet = first.thumbnails { return imageSet(first, sheet, in: element) }
        let isText = first.subtitles != nil
        let kind = isText ? "text" : first.video != nil ? "video" : "audio"
        element.set("contentType", kind)
        element.set("lang", first.language?.value)
        element.set("mimeType", isText ? "text/vtt" : "\(kind)/mp4")
        if !isText { setAccess(of: first, in: &element) }
        if first.video != nil { setSizes(of: renditions, in: &element) }
        element.add(colorProperties(of: first))
        if let title = first.title { element.add(XMLElement("Label", text: title)) }
        element.add(roles(of: first))
        // Most sets have one time line for all representations.
        let shared = package.files == .many && !isText && hasEqualTimeLines(renditions)
        if shared { element.add(segmentTemplate(of: first)) }
        element.add(renditions.map { representation($0, hasTemplate: shared) })
        return element
    }

    /// Returns an adaptation set of thumbnails (DASH-IF interoperability points, 6.2.6): one segment that contains all tiles.
    private func imageSet(
        _ rendition: StreamingRendition, _ sheet: ThumbnailSheet, in set: XMLElement
    ) -> XMLElement {
        var element = set
        element.set("contentType", "image")
        element.set("mimeType", "image/\(sheet.format.rawValue)")
        var template = XMLElement("SegmentTemplate")
        let (duration, timescale) = Self.ticks(sheet.duration)
        template.set("timescale", timescale)
        template.set("media", package.layout.thumbnailsTemplate(sheet))
        template.set("startNumber", 1)
        template.set("duration", duration)
        element.add(template)
        var representation = XMLElement("Representation")
        representation.set("id", rendition.id)
        representation.set("bandwidth", max(1, rates[rendition.id]?.peak ?? 0))
        representation.set("width", sheet.columns * sheet.width)
        representation.set("height", sheet.rows * sheet.height)
        representation.add(
            Self.descriptor(
                "EssentialProperty", "http://dashif.org/guidelines/thumbnail_tile",
                "\(sheet.columns)x\(sheet.rows)"))
        element.add(representation)
        return element
    }

    /// Returns a duration as ticks and ticks per second, which the schema limits to 32 bits; rounded to milliseconds or
    /// seconds if it can't be exact.
    private static func ticks(_ duration: MediaTime) -> (duration: Int64, timescale: Int32) {
        let exact = (duration.value, duration.timescale)
        if exact.0 <= Int64(UInt32.max) { return exact }
        let milliseconds = duration.ticks(in: Rational(1, 1000))
        return milliseconds <= Int64(UInt32.max)
            ? (milliseconds, 1000) : (duration.ticks(in: Rational(1, 1)), 1)
    }

    private func setAccess(of first: StreamingRendition, in element: inout XMLElement) {
        let accessPoint = (first.video?.accessPoint ?? .closed).rawValue
        if package.files == .many {
            element.set("segmentAlignment", "true")
            element.set("startWithSAP", accessPoint)
        } else {
            element.set("subsegmentAlignment", "true")
            element.set("subsegmentStartsWithSAP", accessPoint)
        }
    }

    private func setSizes(of renditions: [StreamingRendition], in element: inout XMLElement) {
        let videos = renditions.compactMap(\.video)
        guard let largest = videos.max(by: { $0.width * $0.height < $1.width * $1.height }) else { return }
        let size = largest.displaySize
        element.set("par", Self.ratio(Int64(size.width), Int64(size.height)))
        element.set("maxWidth", videos.map(\.width).max())
        element.set("maxHeight", videos.map(\.height).max())
        let rates = videos.compactMap(\.frameRate)
        if rates.count == videos.count {
            element.set("maxFrameRate", rates.max { $0.double < $1.double }.map(Self.frameRate))
        }
    }

    private func hasEqualTimeLines(_ renditions: [StreamingRendition]) -> Bool {
        guard let first = renditions.first else { return false }
        return renditions.dropFirst().allSatisfy {
            $0.timescale == first.timescale && $0.boundaries == first.boundaries
        }
    }

    /// Returns properties that players need to select video by color (ISO/IEC 23091-2): essential ones for HDR and wide
    /// gamut, because such video looks wrong on players that don't know them, otherwise supplemental ones; none for BT.709.
    private func colorProperties(of rendition: StreamingRendition) -> [XMLElement] {
        guard let video = rendition.video else { return [] }
        let code = CodePoints(video.color)
        guard !code.isStandard else { return [] }
        let isEssential = VideoRange(video.color) != .sdr || code.primaries == CodePoints.bt2020
        let values = [
            ("ColourPrimaries", code.primaries), ("TransferCharacteristics", code.transfer),
            ("MatrixCoefficients", code.matrix),
        ]
        return values.filter { $0.1 != CodePoints.unspecified }.map { name, value in
            var property = XMLElement(isEssential ? "EssentialProperty" : "SupplementalProperty")
            property.set("schemeIdUri", "urn:mpeg:mpegB:cicp:\(name)")
            property.set("value", value)
            return property
        }
    }

    private func roles(of rendition: StreamingRendition) -> [XMLElement] {
        let roles = StreamingRole.allCases.filter(rendition.roles.contains)
        let purposes = roles.compactMap(\.audioPurpose)
        var values = roles.map(\.dashRole)
        if values.isEmpty {
            values = [rendition.subtitles != nil ? "subtitle" : isMain(rendition) ? "main" : "alternate"]
        }
        return purposes.map {
            Self.descriptor("Accessibility", "urn:tva:metadata:cs:AudioPurposeCS:2007", $0)
        }
            + values.map { Self.descriptor("Role", "urn:mpeg:dash:role:2011", $0) }
    }

    /// Returns whether video, or audio without special roles, is the main content: audio in the language of the default.
    private func isMain(_ rendition: StreamingRendition) -> Bool {
        guard rendition.audio != nil else { return true }
        let plain = package.renditions.filter { $0.audio != nil && $0.roles.isEmpty }
        let standard = plain.first { $0.isDefault } ?? plain.first
        return rendition.language == standard?.language
    }

    private static func descriptor(_ name: String, _ scheme: String, _ value: String) -> XMLElement {
        var element = XMLElement(name)
        element.set("schemeIdUri", scheme)
        element.set("value", value)
        return element
    }

    // MARK: Representations

    private func representation(_ rendition: StreamingRendition, hasTemplate: Bool) -> XMLElement {
        var element = XMLElement("Representation")
        element.set("id", rendition.id)
        element.set("bandwidth", max(1, rates[rendition.id]?.peak ?? 0))
        element.set("codecs", rendition.codec?.value)
        if let video = rendition.video {
            element.set("width", video.width)
            element.set("height", video.height)
            element.set("frameRate", video.frameRate.map(Self.frameRate))
            let aspect = video.sampleAspectRatio ?? Rational(1, 1)
            element.set("sar", Self.ratio(Int64(aspect.num), Int64(aspect.den)))
        }
        if let audio = rendition.audio {
            element.set("audioSamplingRate", audio.sampleRate)
            let channels = ChannelConfiguration(audio.layout, codec: rendition.codec)
            element.add(Self.descriptor("AudioChannelConfiguration", channels.scheme, channels.value))
        }
        if rendition.subtitles != nil {
            element.add(XMLElement("BaseURL", text: package.layout.subtitles(of: rendition.id)))
        } else if package.files == .single {
            element.add(XMLElement("BaseURL", text: package.layout.segment(0, of: rendition.id)))
            element.add(segmentBase(of: rendition))
        } else if !hasTemplate {
            element.add(segmentTemplate(of: rendition))
        }
        return element
    }

    /// Returns the package's start in ticks of a rendition, which is the start of the period.
    private func offset(of rendition: StreamingRendition) -> Int64? {
        let ticks = rendition.ticks(package.start)
        return ticks > 0 ? ticks : nil
    }

    private func segmentTemplate(of rendition: StreamingRendition) -> XMLElement {
        var element = XMLElement("SegmentTemplate")
        element.set("timescale", rendition.timescale)
        element.set("presentationTimeOffset", offset(of: rendition))
        element.set("initialization", package.layout.initializationTemplate)
        element.set("media", package.layout.segmentTemplate)
        element.set("startNumber", 1)
        var timeline = XMLElement("SegmentTimeline")
        for run in SegmentRun.runs(rendition.boundaries) {
            var entry = XMLElement("S")
            entry.set("t", run.start)
            entry.set("d", run.duration)
            entry.set("r", run.repetitions > 0 ? run.repetitions : nil)
            timeline.add(entry)
        }
        element.add(timeline)
        return element
    }

    private func segmentBase(of rendition: StreamingRendition) -> XMLElement {
        var element = XMLElement("SegmentBase")
        element.set("timescale", rendition.timescale)
        element.set("presentationTimeOffset", offset(of: rendition))
        element.set("indexRange", SegmentIndex.range(of: rendition).dash)
        element.set("indexRangeExact", "true")
        var initialization = XMLElement("Initialization")
        initialization.set("range", ByteRange(offset: 0, length: rendition.initializationSize).dash)
        element.add(initialization)
        return element
    }

    /// Returns a ratio in lowest terms, with a colon.
    private static func ratio(_ width: Int64, _ height: Int64) -> String {
        var (a, b) = (width, height)
        while b != 0 { (a, b) = (b, a % b) }
        return "\(width / max(1, a)):\(height / max(1, a))"
    }

    /// Returns a frame rate as an integer or a ratio in lowest terms.
    private static func frameRate(_ rate: Rational) -> String {
        let parts = ratio(Int64(rate.num), Int64(rate.den)).split(separator: ":")
        return parts.last == "1" ? String(parts[0]) : parts.joined(separator: "/")
    }
}

/// Contiguous segments of the same duration (`S`).
struct SegmentRun: Hashable {
    let start: Int64
    let duration: Int64
    /// Number of segments after the first one (`r`).
    var repetitions: Int

    /// Returns the runs of segments with these boundaries.
    static func runs(_ boundaries: [Int64]) -> [SegmentRun] {
        var runs: [SegmentRun] = []
        for (start, end) in zip(boundaries, boundaries.dropFirst()) {
            if let last = runs.last, last.duration == end - start {
                runs[runs.count - 1].repetitions += 1
            } else {
                runs.append(SegmentRun(start: start, duration: end - start, repetitions: 0))
            }
        }
        return runs
    }
}
