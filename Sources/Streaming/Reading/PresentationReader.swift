internal import Media

/// A reader of media presentation descriptions (ISO/IEC 23009-1): static ones with segment templates, lists or single files.
struct PresentationReader {
    /// Path of the MPD, relative to the package's folder.
    let path: String
    private var total = 0

    init(path: String) { self.path = path }

    /// A part of the hierarchy of an MPD with the values that it inherits.
    private struct Level {
        var template: [String: String] = [:]
        var timeline: XMLNode?
        var initialization: XMLNode?
        var list: XMLNode?
        var base: String
        var mimeType: String?
        var contentType: String?
        var codecs: String?
        var language: String?

        /// Adds the values of an element within this level.
        mutating func enter(_ node: XMLNode, in path: String) throws(PackageReadingError) {
            if let written = node.first("BaseURL") {
                let text = written.text.trimmed
                let isFolder = text.hasSuffix("/")
                let found = try PackageReference.path(
                    isFolder ? text + "x" : text, in: path, base: base, line: written.line)
                base = found
            }
            for name in ["SegmentTemplate", "SegmentBase", "SegmentList"] {
                guard let segments = node.first(name) else { continue }
                template.merge(segments.attributes) { $1 }
                timeline = segments.first("SegmentTimeline") ?? timeline
                initialization = segments.first("Initialization") ?? initialization
                if name == "SegmentList" { list = segments }
            }
            mimeType = node.attributes["mimeType"] ?? mimeType
            contentType = node.attributes["contentType"] ?? contentType
            codecs = node.attributes["codecs"] ?? codecs
            language = node.attributes["lang"] ?? language
        }
    }

    private func error(_ node: XMLNode, _ reason: String) -> PackageReadingError {
        PackageReadingError(path, line: node.line, reason)
    }

    /// Returns the representations of all periods.
    mutating func renditions(of root: XMLNode) throws(PackageReadingError) -> [ListedRendition] {
        guard root.name == "MPD" else { throw error(root, "the document isn't an MPD") }
        guard root.attributes["type"] ?? "static" == "static" else {
            throw error(root, "live presentations (`type=\"dynamic\"`) are not supported")
        }
        let periods = root.all("Period")
        guard !periods.isEmpty else { throw error(root, "the MPD has no `Period`") }
        let whole = try duration(root, "mediaPresentationDuration")
        var renditions: [ListedRendition] = []
        var top = Level(base: path)
        try top.enter(root, in: path)
        for (index, period) in periods.enumerated() {
            guard !period.attributes.keys.contains("href") else {
                throw error(period, "remote periods (`xlink:href`) are not supported")
            }
            let own = try duration(period, "duration")
            var length = own
            if own == nil, periods.count == 1 { length = whole }
            var level = top
            try level.enter(period, in: path)
            for (number, set) in period.all("AdaptationSet").enumerated() {
                var level = level
                try level.enter(set, in: path)
                for representation in set.all("Representation") {
                    guard renditions.count < ReadingLimits.renditions else {
                        throw error(
                            representation, "more than \(ReadingLimits.renditions) representations")
                    }
                    var level = level
                    try level.enter(representation, in: path)
                    var listed = try listed(representation, level, set, length)
                    listed.set = number
                    if periods.count > 1 {
                        listed.rendition.name = "period \(index + 1): \(listed.rendition.name)"
                    }
                    renditions.append(listed)
                }
            }
        }
        guard !renditions.isEmpty else { throw error(root, "the MPD has no representations") }
        return renditions
    }

    private mutating func listed(
        _ node: XMLNode, _ level: Level, _ set: XMLNode, _ period: Int64?
    ) throws(PackageReadingError) -> ListedRendition {
        guard let id = node.attributes["id"], id.utf8.count <= 200 else {
            throw error(node, "a representation without an `id`")
        }
        let type = level.contentType ?? level.mimeType?.split(separator: "/").first.map(String.init)
        var rendition = PackageDescription.Rendition(id, kind: RenditionKind(contentType: type))
        rendition.codecs = level.codecs
        if let width = node.attributes["width"], let height = node.attributes["height"] {
            rendition.resolution = "\(width)x\(height)"
        }
        rendition.language = level.language
        rendition.title = set.first("Label")?.text.trimmed
        rendition.bandwidth = node.attributes["bandwidth"].flatMap { Int64($0) }
        rendition.isEncrypted = set.first("ContentProtection") ?? node.first("ContentProtection") != nil
        rendition.duration = MediaTime(value: period ?? 0, timescale: 1_000_000).reduced
        var listed = ListedRendition(rendition)
        // Trick modes are sets that players without support must ignore.
        listed.isAuxiliary = set.first("EssentialProperty") != nil
        listed.disposition = set.all("Role").compactMap { role in
            role.attributes["value"].flatMap(StreamingRole.disposition(ofDASHRole:))
        }
        if let offset = level.template["presentationTimeOffset"], offset != "0" {
            listed.obstacle = error(node, "`presentationTimeOffset` can't be read as part of a source")
        }
        if level.template["media"] != nil {
            try addTemplate(level, node, period, to: &listed)
        } else if let list = level.list, list.first("SegmentURL") != nil {
            try addInitialization(level, to: &listed)
            for segment in list.all("SegmentURL") {
                try add(
                    segment.attributes["media"], level, segment, range: segment.attributes["mediaRange"],
                    to: &listed)
                listed.segmentCount += 1
            }
        } else {
            listed.files = [ListedRendition.File(path: level.base)]
            listed.segmentCount = 1
        }
        return listed
    }

    // MARK: Templates

    private mutating func addTemplate(
        _ level: Level, _ node: XMLNode, _ period: Int64?, to listed: inout ListedRendition
    ) throws(PackageReadingError) {
        func number(_ name: String, _ standard: Int64) throws(PackageReadingError) -> Int64 {
            guard let text = level.template[name] else { return standard }
            guard let value = Int64(text), (0...1 << 40).contains(value) else {
                throw error(node, "invalid `\(name)` of a segment template")
            }
            return value
        }
        let timescale = max(1, try number("timescale", 1))
        let first = try number("startNumber", 1)
        let media = level.template["media"] ?? ""
        var times: [(start: Int64, duration: Int64)] = []
        if let timeline = level.timeline {
            times = try self.times(of: timeline, timescale, period)
        } else {
            let duration = try number("duration", 0)
            guard duration > 0, let period else {
                throw error(node, "a segment template without a duration")
            }
            // Rounded up; a microsecond is rounding of the period.
            let ticks = Int128(period) * Int128(timescale) / 1_000_000
            let count = Int64(clamping: max(1, (ticks + Int128(duration) - 1) / Int128(duration)))
            guard count <= Int64(ReadingLimits.segments) else { throw tooMany(node) }
            times = (0..<count).map { ($0 * duration, duration) }
        }
        guard times.count <= ReadingLimits.segments - total else { throw tooMany(node) }
        if let initialization = level.template["initialization"] {
            try add(
                expanded(initialization, node, number: first, time: 0), level, node, range: nil, to: &listed)
        } else {
            try addInitialization(level, to: &listed)
        }
        for (index, time) in times.enumerated() {
            let uri = expanded(media, node, number: first + Int64(index), time: time.start)
            try add(uri, level, node, range: nil, to: &listed)
        }
        listed.segmentCount = times.count
        func time(_ ticks: Int64) -> MediaTime {
            MediaTime(
                value: Int64(clamping: Int128(ticks) * 1_000_000 / Int128(timescale)), timescale: 1_000_000
            ).reduced
        }
        listed.rendition.longestSegment = time(times.map(\.duration).max() ?? 0)
        if level.timeline != nil, let start = times.first?.start, let last = times.last {
            listed.rendition.duration = time(last.start + last.duration - start)
        }
    }

    /// Returns the times of the segments of a time line in ticks.
    private func times(
        of timeline: XMLNode, _ timescale: Int64, _ period: Int64?
    ) throws(PackageReadingError) -> [(start: Int64, duration: Int64)] {
        let entries = timeline.all("S")
        var times: [(start: Int64, duration: Int64)] = []
        var next: Int64 = 0
        for (index, entry) in entries.enumerated() {
            func number(_ name: String) throws(PackageReadingError) -> Int64? {
                guard let text = entry.attributes[name] else { return nil }
                guard let value = Int64(text), (-1...1 << 50).contains(value) else {
                    throw error(entry, "invalid `\(name)` of a segment")
                }
                return value
            }
            guard let duration = try number("d"), duration > 0 else {
                throw error(entry, "a segment without a duration")
            }
            if let start = try number("t") { next = start }
            var repetitions = try number("r") ?? 0
            if repetitions < 0 {
                // Until the next entry, or the end of the period.
                let following = entries.indices.contains(index + 1) ? entries[index + 1].attributes["t"] : nil
                let end =
                    following.flatMap { Int64($0) }
                    ?? period.map { Int64(clamping: Int128($0) * Int128(timescale) / 1_000_000) }
                guard let end, end > next else { throw error(entry, "an open segment without an end") }
                repetitions = (end - next + duration - 1) / duration - 1
            }
            guard repetitions < Int64(ReadingLimits.segments - total - times.count) else {
                throw tooMany(entry)
            }
            for _ in 0...repetitions {
                times.append((next, duration))
                let (sum, overflows) = next.addingReportingOverflow(duration)
                guard !overflows, sum <= 1 << 61 else { throw error(entry, "the time line is too long") }
                next = sum
            }
        }
        guard !times.isEmpty else { throw error(timeline, "a time line without segments") }
        return times
    }

    private func tooMany(_ node: XMLNode) -> PackageReadingError {
        error(node, "more than \(ReadingLimits.segments) segments")
    }

    /// Returns a template with its identifiers replaced.
    private func expanded(_ template: String, _ node: XMLNode, number: Int64, time: Int64) -> String {
        var result = ""
        for (index, part) in template.split(separator: "$", omittingEmptySubsequences: false).enumerated() {
            guard index % 2 == 1 else {
                result += part
                continue
            }
            let pieces = part.split(separator: "%", maxSplits: 1)
            let width = pieces.count == 2 ? Int(pieces[1].dropFirst().dropLast()) ?? 0 : 0
            switch pieces.first {
            case nil: result += "$"
            case "RepresentationID": result += node.attributes["id"] ?? ""
            case "Bandwidth": result += node.attributes["bandwidth"] ?? ""
            case "Number": result += padded(number, digits: min(20, max(0, width)))
            case "Time": result += padded(time, digits: min(20, max(0, width)))
            case let other?: result += "$\(other)$"
            }
        }
        return result
    }

    // MARK: Files

    private mutating func addInitialization(
        _ level: Level, to listed: inout ListedRendition
    ) throws(PackageReadingError) {
        guard let node = level.initialization else { return }
        try add(
            node.attributes["sourceURL"], level, node, range: node.attributes["range"], to: &listed)
    }

    /// Adds a file; without a URI, that of the base URL.
    private mutating func add(
        _ uri: String?, _ level: Level, _ node: XMLNode, range: String?, to listed: inout ListedRendition
    ) throws(PackageReadingError) {
        total += 1
        guard total <= 2 * ReadingLimits.segments else { throw tooMany(node) }
        var file = ListedRendition.File(
            path: try uri.map { uri throws(PackageReadingError) in
                try PackageReference.path(uri, in: path, base: level.base, line: node.line)
            } ?? level.base)
        if let range {
            let numbers = range.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
            guard numbers.count == 2, let start = numbers[0], let last = numbers[1], start >= 0,
                (start...1 << 50).contains(last)
            else { throw error(node, "invalid byte range `\(range.prefix(40))`") }
            (file.start, file.end) = (start, last + 1)
        }
        listed.files.append(file)
    }

    // MARK: Durations

    /// Returns a duration of XML Schema, such as `PT1H2M3.5S`, in microseconds; nil without the attribute.
    private func duration(_ node: XMLNode, _ name: String) throws(PackageReadingError) -> Int64? {
        guard let text = node.attributes[name] else { return nil }
        guard let duration = Self.microseconds(text) else {
            throw error(node, "invalid duration `\(text.prefix(40))`")
        }
        return duration
    }

    /// Returns a duration of days, hours, minutes and seconds in microseconds; nil for other texts.
    static func microseconds(_ text: String) -> Int64? {
        guard text.hasPrefix("P") else { return nil }
        var units: [Character: Int64] = ["D": 86_400]
        var (sum, number, isTime): (Int64, String, Bool) = (0, "", false)
        for character in text.dropFirst() {
            if character == "T", !isTime, number.isEmpty {
                isTime = true
                units = ["H": 3600, "M": 60, "S": 1]
            } else if let unit = units.removeValue(forKey: character) {
                guard let value = PlaylistDocument.microseconds(number),
                    case let (product, overflows) = value.multipliedReportingOverflow(by: unit), !overflows,
                    product <= ReadingLimits.duration - sum
                else { return nil }
                sum += product
                number = ""
            } else {
                number.append(character)
                guard number.count <= 40 else { return nil }
            }
        }
        return number.isEmpty && text.count > 2 ? sum : nil
    }
}
