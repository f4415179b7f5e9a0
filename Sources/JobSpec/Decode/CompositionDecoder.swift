internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of `composition`, with the validation that requires no media.
struct CompositionDecoder {
    let reader: NodeReader
    /// Closure that decodes an asset id, a path or an inline asset.
    let asset: (YAMLNode) -> AssetSpec?

    /// Maximum number of entries in each of `sequence`, `layers` and `audio`.
    static let maxItems = Composition.maxClips

    /// Returns the composition; nil after an error is reported.
    func composition(_ node: YAMLNode) -> CompositionSpec? {
        let before = reader.sink.errorCount
        var spec = CompositionSpec(sequence: [], layers: [], audio: [], range: node.range)
        if case .sequence = node.content {
            spec.sequence = sequence(node)
        } else {
            guard let fields = reader.fields(node, as: Language.composition) else { return nil }
            spec.sequence = fields.value("sequence").map { sequence($0) } ?? []
            spec.layers = fields.value("layers").map { list($0, "`layers`").compactMap { layer($0) } } ?? []
            spec.audio = fields.value("audio").map { list($0, "`audio`").compactMap { audioItem($0) } } ?? []
            spec.size = reader.value(
                fields.value("size"), "`size`",
                "expected a size such as 1280x720, both sides even and at least 16"
            ) { text in
                Quantity.dimensions(text).flatMap { size in
                    guard let width = size.width, let height = size.height, width % 2 == 0, height % 2 == 0,
                        width >= 16, height >= 16
                    else { return nil }
                    return size
                }
            }
            spec.frameRate = reader.value(
                fields.value("frame_rate"), "`frame_rate`",
                "expected a frame rate such as 25, 29.97 or 30000/1001, up to 1000"
            ) { Quantity.frameRate($0) }
            spec.sampleRate = reader.value(
                fields.value("sample_rate"), "`sample_rate`",
                "expected a sample rate such as 48000 or 44.1kHz"
            ) { Quantity.frequency($0).flatMap { $0 >= 8000 ? $0 : nil } }
            spec.channels = reader.value(
                fields.value("channels"), "`channels`",
                "expected mono, stereo, 5.1, a number of channels up to 16, or a channel layout of FFmpeg"
            ) { EncodeDecoder.layout($0) }
        }
        check(spec)
        return reader.sink.errorCount == before ? spec : nil
    }

    private func list(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        guard case .sequence(let items) = node.content else {
            reader.sink.error(.wrongType, "\(what) must be a list, not \(node.kind)", at: node.range)
            return []
        }
        if items.count > Self.maxItems {
            reader.sink.error(.yamlLimit, "\(what) has more than \(Self.maxItems) entries", at: node.range)
            return []
        }
        return items
    }

    // MARK: Sequence

    private func sequence(_ node: YAMLNode) -> [CompositionSpec.Item] {
        let items = list(node, "`sequence`")
        if items.isEmpty, case .sequence(let written) = node.content, written.isEmpty {
            reader.sink.error(.missingKey, "a composition requires at least one clip", at: node.range)
        }
        return items.compactMap { item($0) }
    }

    private func item(_ node: YAMLNode) -> CompositionSpec.Item? {
        guard case .mapping(let entries) = node.content else {
            return asset(node).map { .clip(Self.clip($0, at: node.range)) }
        }
        let keys = entries.map(\.key)
        // A mapping with another tool's key for a join also counts as a join.
        let isJoin =
            !keys.contains("asset")
            && keys.contains { ForeignWords.key($0, in: Language.join, value: nil) == "join" }
        if keys.contains("join") || isJoin {
            guard let fields = reader.fields(node, as: Language.join) else { return nil }
            let kind = reader.choice("join", of: fields, as: JoinKind.self)
            let overlap = reader.length(
                "overlap", of: fields, "must be a time from 0.001 s to an hour, such as 1s or 500ms")
            guard let kind, let overlap else { return nil }
            return .join(CompositionSpec.Join(kind: kind.value, overlap: overlap, location: node.range))
        }
        if keys.contains("gap") {
            guard let fields = reader.fields(node, as: Language.gap) else { return nil }
            return reader.length("gap", of: fields, "must be a time from 0.001 s to a day, such as 1s").map {
                .gap($0)
            }
        }
        // A mapping with one of these keys is an inline asset.
        if !keys.contains("asset"),
            ["path", "pattern", "url", "image", "images", "job"].contains(where: keys.contains)
        {
            return asset(node).map { .clip(Self.clip($0, at: node.range)) }
        }
        guard let fields = reader.fields(node, as: Language.clip) else { return nil }
        guard let source = fields.value("asset").flatMap({ asset($0) }) else { return nil }
        var clip = Self.clip(source, at: node.range)
        clip.id = id(fields)
        clip.range = fields.value("range").flatMap { RangeDecoder(reader: reader).range($0) }
        clip.duration = reader.length(
            "duration", of: fields, "must be a time from 0.001 s to a day, such as 5s")
        clip.video = choice(fields.value("video"), of: .video)
        clip.audio = choice(fields.value("audio"), of: .audio)
        clip.subtitle = choice(fields.value("subtitle"), of: .subtitle, mayBeAll: true)
        clip.fit = reader.choice("fit", of: fields, as: FrameFit.self)
        clip.shaping = EncodeDecoder(reader: reader).shaping(fields)
        clip.speed = reader.thousandths("speed", of: fields)
        clip.volume = level(fields["volume"], as: Language.levelPoint)
        clip.leadIn = reader.choice("lead_in", of: fields, as: LeadIn.self)
        if let duration = clip.duration, let range = clip.range {
            reader.sink.error(
                .conflictingKeys, "`duration` is for images, and can't be combined with `range`",
                at: duration.range, notes: [Diagnostic.Note("`range` is here", at: range.range)])
        }
        return .clip(clip)
    }

    private static func clip(_ asset: AssetSpec, at location: SourceRange) -> CompositionSpec.Clip {
        CompositionSpec.Clip(asset: asset, video: .automatic, audio: .automatic, location: location)
    }

    private func id(_ fields: Fields) -> Located<String>? {
        guard let text = fields.value("id").flatMap({ reader.text($0, "`id`") }) else { return nil }
        guard NodeReader.isIdentifier(text.value), !["start", "end"].contains(text.value) else {
            reader.sink.error(
                .invalidName, "`\(text.value)` is not a valid id", at: text.range,
                help: "ids contain only letters, digits, `_` and `-`; `start` and `end` are reserved")
            return nil
        }
        return text
    }

    private func choice(
        _ node: YAMLNode?, of type: MediaType, mayBeAll: Bool = false
    ) -> CompositionSpec.TrackChoice {
        guard let node else { return .automatic }
        if node.text == "none" { return .none }
        if mayBeAll, node.text == "all" { return .automatic }
        if node.text == "all" {
            reader.sink.error(
                .invalidValue,
                "`all` is not allowed here; expected `first`, `none`, an index or a mapping",
                at: node.range)
            return .automatic
        }
        return SelectionDecoder(reader: reader).selection(node, of: type).map { .track($0) } ?? .automatic
    }

    // MARK: Layers and audio

    private func layer(_ node: YAMLNode) -> CompositionSpec.Layer? {
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(.wrongType, "a layer must be a mapping, not \(node.kind)", at: node.range)
            return nil
        }
        if entries.contains(where: { $0.key == "subtitle" }) { return subtitles(node) }
        let isText = entries.contains { $0.key == "text" }
        guard let fields = reader.fields(node, as: isText ? Language.textLayer : Language.assetLayer) else {
            return nil
        }
        let content: CompositionSpec.Layer.Content
        if isText {
            guard let text = fields.value("text").flatMap({ reader.text($0, "`text`") }) else { return nil }
            let color = reader.value(
                fields.value("color"), "`color`", "expected a name such as white, or a code such as #ffcc00"
            ) { Self.color($0) }
            content = .text(
                text, font: fields.value("font").flatMap { reader.text($0, "`font`") },
                size: reader.integer("size", of: fields), color: color?.value ?? "white")
        } else {
            guard let source = fields.value("asset").flatMap({ asset($0) }) else { return nil }
            let video = choice(fields.value("video"), of: .video)
            if case .none = video, let node = fields.value("video") {
                reader.sink.error(.invalidValue, "`video: none` is not allowed in a layer", at: node.range)
            }
            content = .asset(
                source, range: fields.value("range").flatMap { RangeDecoder(reader: reader).range($0) },
                video: video, EncodeDecoder(reader: reader).shaping(fields))
        }
        return CompositionSpec.Layer(
            content: content, at: anchor(fields.value("at"), "`at`"),
            until: anchor(fields.value("until"), "`until`"),
            duration: reader.length(
                "duration", of: fields, "must be a time from 0.001 s to a day, such as 3s"),
            placement: fields.value("place").map { placement($0) } ?? CompositionSpec.LayerPlacement(),
            opacity: level(fields["opacity"], as: Language.opacityPoint), location: node.range)
    }

    private func subtitles(_ node: YAMLNode) -> CompositionSpec.Layer? {
        guard let fields = reader.fields(node, as: Language.subtitleLayer),
            let source = fields.value("subtitle").flatMap({ asset($0) })
        else { return nil }
        let color = reader.value(
            fields.value("color"), "`color`", "expected a name such as white, or a code such as #ffcc00"
        ) { Self.color($0).flatMap { Self.digits(of: $0) } }
        let style = CompositionSpec.Layer.Style(
            font: fields.value("font").flatMap { reader.text($0, "`font`") },
            size: reader.integer("size", of: fields)?.value, color: color?.value)
        return CompositionSpec.Layer(
            content: .subtitle(source, track: choice(fields.value("track"), of: .subtitle), style),
            at: anchor(fields.value("at"), "`at`"), until: anchor(fields.value("until"), "`until`"),
            duration: nil, placement: CompositionSpec.LayerPlacement(), opacity: nil, location: node.range)
    }

    /// Returns a color as six hexadecimal digits, without alpha.
    private static func digits(of color: String) -> String? {
        let known = [
            "white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff",
            "yellow": "ffff00", "cyan": "00ffff", "magenta": "ff00ff", "gray": "808080",
        ]
        return known[color] ?? String(color.dropFirst().prefix(6))
    }

    private static func color(_ text: String) -> String? {
        if Language.textLayer.type(of: "color")?.words?.contains(text) == true { return text }
        let digits = text.dropFirst()
        return text.hasPrefix("#") && [6, 8].contains(digits.count) && digits.allSatisfy(\.isHexDigit)
            ? text : nil
    }

    private func placement(_ node: YAMLNode) -> CompositionSpec.LayerPlacement {
        var placement = CompositionSpec.LayerPlacement()
        guard let fields = reader.fields(node, as: Language.placement) else { return placement }
        func distance(_ key: String) -> Located<CompositionSpec.Distance>? {
            reader.value(
                fields.value(key), "`\(key)`", "expected a number of pixels, or a percentage such as 10%"
            ) {
                text in
                let isNegative = text.hasPrefix("-")
                let size = isNegative ? text.dropFirst() : text[...]
                if size.hasSuffix("%"), let share = Quantity.scaled(size.dropLast(), by: 1000),
                    share <= 1_000_000
                {
                    return .share(isNegative ? -share : share)
                }
                guard let pixels = Int(size), pixels <= 16_384, !size.hasPrefix("+") else { return nil }
                return .pixels(isNegative ? -pixels : pixels)
            }
        }
        // Only validated: a layer for which no edge is set is centered anyway.
        _ = reader.boolean("center", of: fields)
        placement.left = distance("left")
        placement.right = distance("right")
        placement.top = distance("top")
        placement.bottom = distance("bottom")
        placement.width = distance("width")
        placement.height = distance("height")
        placement.rotate = reader.thousandths("rotate", of: fields)
        return placement
    }

    private func audioItem(_ node: YAMLNode) -> CompositionSpec.AudioItem? {
        guard let fields = reader.fields(node, as: Language.audioItem),
            let source = fields.value("asset").flatMap({ asset($0) })
        else { return nil }
        let expected = "must be a time from 0.001 s to an hour, such as 2s"
        var duck: (under: Located<String>, billionths: Int64)?
        if let fields = fields.value("duck").flatMap({ reader.fields($0, as: Language.duck) }),
            let under = fields.value("under").flatMap({ reader.text($0, "`under`") })
        {
            let by = reader.value(fields.value("by"), "`by`", "expected decibels from 0 to 60, such as 12dB")
            {
                Quantity.decibels($0).flatMap { $0 >= 0 ? $0 : nil }
            }
            duck = (under, Self.factor(decibels: -(by?.value ?? 12_000)))
        }
        let choice = choice(fields.value("audio"), of: .audio)
        if case .none = choice, let node = fields.value("audio") {
            reader.sink.error(.invalidValue, "`audio: none` is not allowed in an audio item", at: node.range)
        }
        return CompositionSpec.AudioItem(
            id: id(fields), asset: source,
            range: fields.value("range").flatMap { RangeDecoder(reader: reader).range($0) }, audio: choice,
            at: anchor(fields.value("at"), "`at`"), until: anchor(fields.value("until"), "`until`"),
            loops: reader.boolean("loop", of: fields)?.value ?? false,
            volume: level(fields["volume"], as: Language.levelPoint),
            fadeIn: reader.length("fade_in", of: fields, expected),
            fadeOut: reader.length("fade_out", of: fields, expected), duck: duck, location: node.range)
    }

    /// Converts thousandths of a decibel to a factor in billionths.
    private static func factor(decibels: Int) -> Int64 {
        Int64((1e9 * Decibels.factor(Double(decibels) / 1000)).rounded())
    }

    /// Decodes a factor, decibels, or a list of points.
    private func level(_ entry: YAMLNode.Entry?, as type: MappingType) -> CompositionSpec.Level? {
        guard let entry else { return nil }
        let isVolume = type === Language.levelPoint
        guard case .sequence(let items) = entry.value.content else {
            let most: Int64 = isVolume ? 16_000_000_000 : 1_000_000_000
            let value = reader.value(
                entry.value, "`\(entry.key)`",
                isVolume
                    ? "expected a factor from 0 to 16, decibels such as -3dB, or a list of points"
                    : "expected a number from 0 to 1, or a list of points"
            ) { text -> Int64? in
                if isVolume, text.lowercased().hasSuffix("db") {
                    return Quantity.decibels(text).map { Self.factor(decibels: $0) }.flatMap {
                        $0 <= most ? $0 : nil
                    }
                }
                return Quantity.scaled(text, by: 1000).flatMap {
                    $0 <= most / 1_000_000 ? $0 * 1_000_000 : nil
                }
            }
            return value.map {
                CompositionSpec.Level(points: [(.zero, $0.value)], range: entry.value.range)
            }
        }
        if items.isEmpty {
            reader.sink.error(
                .missingKey, "`\(entry.key)` has no points; expected at least one", at: entry.value.range)
        }
        var points: [(at: MediaTime, billionths: Int64)] = []
        for item in items {
            guard let fields = reader.fields(item, as: type),
                let time = reader.length("at", of: fields, "must be a time from 0 s to a day, such as 2s"),
                let value = reader.thousandths("value", of: fields)
            else { continue }
            if let last = points.last, time.value <= last.at {
                reader.sink.error(
                    .invalidRange, "points must be in ascending order; the previous one is at \(last.at) s",
                    at: time.range)
            }
            points.append((time.value, Int64(value.value) * 1_000_000))
        }
        return points.isEmpty ? nil : CompositionSpec.Level(points: points, range: entry.value.range)
    }

    private func anchor(_ node: YAMLNode?, _ what: String) -> CompositionSpec.Anchor? {
        let expected =
            "expected a time such as 2s, `start`, `end`, or the start or end of an id such as talk.end-1s"
        return reader.value(node, what, expected) { text -> CompositionSpec.Anchor? in
            guard let node else { return nil }
            func time(_ text: Substring) -> MediaTime? {
                if case .absolute(let time)? = TimeExpression(String(text)) { time } else { nil }
            }
            if let time = time(text[...]) {
                return CompositionSpec.Anchor(base: .start, offset: time, range: node.range)
            }
            // An id may contain a `-`; only the part after `.start` or `.end` is an offset.
            for word in [".start", ".end", "start", "end"] {
                guard let found = text.firstRange(of: word) else { continue }
                let (name, rest) = (text[..<found.lowerBound], text[found.upperBound...])
                guard word.hasPrefix(".") != name.isEmpty,
                    name.isEmpty || NodeReader.isIdentifier(String(name))
                else { continue }
                var offset = MediaTime.zero
                if let sign = rest.first {
                    guard "+-".contains(sign), let by = time(rest.dropFirst()) else { return nil }
                    offset = sign == "-" ? .zero - by : by
                }
                let isEnd = word.hasSuffix("end")
                let base: CompositionSpec.Anchor.Base =
                    name.isEmpty ? (isEnd ? .end : .start) : .item(String(name), isEnd: isEnd)
                return CompositionSpec.Anchor(base: base, offset: offset, range: node.range)
            }
            return nil
        }?.value
    }
}
