internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of `composition`, with the validation that requires no media.
struct CompositionDecoder {
    let reader: NodeReader
    /// Closure that decodes an asset id, a path or an inline asset.
    let asset: (YAMLNode) -> AssetSpec?

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
            spec.size = reader.value("size", of: fields)
            spec.frameRate = reader.value("frame_rate", of: fields)
            spec.sampleRate = reader.value("sample_rate", of: fields)
            spec.channels = reader.value("channels", of: fields)
        }
        check(spec)
        return reader.sink.errorCount == before ? spec : nil
    }

    private func list(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        guard case .sequence(let items) = node.content else {
            reader.sink.error(.wrongType, "\(what) must be a list, not \(node.kind)", at: node.range)
            return []
        }
        if items.count > Language.maxItems {
            reader.sink.error(
                .yamlLimit, "\(what) has more than \(Language.maxItems) entries", at: node.range)
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
            let overlap = reader.length("overlap", of: fields)
            guard let kind, let overlap else { return nil }
            return .join(CompositionSpec.Join(kind: kind.value, overlap: overlap, location: node.range))
        }
        if keys.contains("gap") {
            guard let fields = reader.fields(node, as: Language.gap) else { return nil }
            return reader.length("gap", of: fields).map {
                .gap($0)
            }
        }
        // A mapping with one of these keys is an inline asset.
        if !keys.contains("asset"),
            ["path", "paths", "pattern", "url", "image", "images", "job"].contains(where: keys.contains)
        {
            return asset(node).map { .clip(Self.clip($0, at: node.range)) }
        }
        guard let fields = reader.fields(node, as: Language.clip) else { return nil }
        guard let source = fields.value("asset").flatMap({ asset($0) }) else { return nil }
        var clip = Self.clip(source, at: node.range)
        clip.id = id(fields)
        clip.range = fields.value("range").flatMap { RangeDecoder(reader: reader).range($0) }
        clip.duration = reader.length("duration", of: fields)
        clip.video = choice(fields.value("video"), of: .video)
        clip.audio = choice(fields.value("audio"), of: .audio)
        clip.subtitle = choice(fields.value("subtitle"), of: .subtitle, mayBeAll: true)
        clip.fit = reader.choice("fit", of: fields, as: FrameFit.self)
        clip.shaping = EncodeDecoder(reader: reader).shaping(fields)
        clip.speed = reader.thousandths("speed", of: fields)
        clip.volume = level("volume", of: fields, points: Language.levelPoint)
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
        guard Identifier.isValid(text.value), !["start", "end"].contains(text.value) else {
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
        let word = node.text.flatMap(SelectionWord.init)
        if word == SelectionWord.none { return .none }
        if word == .all {
            if mayBeAll { return .automatic }
            reader.sink.error(
                .invalidValue,
                "`all` is not allowed here; expected `first`, `none`, an index, a mapping, or a list",
                at: node.range)
            return .automatic
        }
        return SelectionDecoder(reader: reader).selection(node, of: type, allowsAll: mayBeAll).map {
            .track($0)
        } ?? .automatic
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
            let color = reader.valueOrDefault("color", of: fields, as: Language.NamedColor.self)
            content = .text(
                text, font: fields.value("font").flatMap { reader.text($0, "`font`") },
                size: reader.integer("size", of: fields),
                color: color.text)
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
            content: content, at: reader.value("at", of: fields),
            until: reader.value("until", of: fields),
            duration: reader.length("duration", of: fields),
            placement: fields.value("place").map { placement($0) } ?? CompositionSpec.LayerPlacement(),
            opacity: level("opacity", of: fields, points: Language.opacityPoint), location: node.range)
    }

    private func subtitles(_ node: YAMLNode) -> CompositionSpec.Layer? {
        guard let fields = reader.fields(node, as: Language.subtitleLayer),
            let source = fields.value("subtitle").flatMap({ asset($0) })
        else { return nil }
        let style = BurnDecoder(reader: reader).style(of: fields)
        return CompositionSpec.Layer(
            content: .subtitle(source, track: choice(fields.value("track"), of: .subtitle), style),
            at: reader.value("at", of: fields), until: reader.value("until", of: fields),
            duration: nil, placement: CompositionSpec.LayerPlacement(), opacity: nil, location: node.range)
    }

    private func placement(_ node: YAMLNode) -> CompositionSpec.LayerPlacement {
        var placement = CompositionSpec.LayerPlacement()
        guard let fields = reader.fields(node, as: Language.placement) else { return placement }
        // Only validated: a layer for which no edge is set is centered anyway.
        _ = reader.boolean("center", of: fields)
        placement.left = reader.value("left", of: fields)
        placement.right = reader.value("right", of: fields)
        placement.top = reader.value("top", of: fields)
        placement.bottom = reader.value("bottom", of: fields)
        placement.width = reader.value("width", of: fields)
        placement.height = reader.value("height", of: fields)
        placement.rotate = reader.thousandths("rotate", of: fields)
        return placement
    }

    private func audioItem(_ node: YAMLNode) -> CompositionSpec.AudioItem? {
        guard let fields = reader.fields(node, as: Language.audioItem),
            let source = fields.value("asset").flatMap({ asset($0) })
        else { return nil }
        var duck: (under: Located<String>, billionths: Int64)?
        if let fields = fields.value("duck").flatMap({ reader.fields($0, as: Language.duck) }),
            let under = fields.value("under").flatMap({ reader.text($0, "`under`") })
        {
            duck = (under, Language.reductionFactor(reader.valueOrDefault("by", of: fields)))
        }
        let choice = choice(fields.value("audio"), of: .audio)
        if case .none = choice, let node = fields.value("audio") {
            reader.sink.error(.invalidValue, "`audio: none` is not allowed in an audio item", at: node.range)
        }
        return CompositionSpec.AudioItem(
            id: id(fields), asset: source,
            range: fields.value("range").flatMap { RangeDecoder(reader: reader).range($0) }, audio: choice,
            at: reader.value("at", of: fields), until: reader.value("until", of: fields),
            loops: reader.valueOrDefault("loop", of: fields),
            volume: level("volume", of: fields, points: Language.levelPoint),
            fadeIn: reader.length("fade_in", of: fields),
            fadeOut: reader.length("fade_out", of: fields), duck: duck, location: node.range)
    }

    /// Decodes a factor, decibels, or a list of points.
    private func level(
        _ key: String, of fields: Fields, points type: MappingType
    ) -> CompositionSpec.Level? {
        guard let entry = fields[key] else { return nil }
        guard case .sequence(let items) = entry.value.content else {
            let value = reader.value(entry.key, of: fields, as: Int64.self)
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
                let time = reader.length("at", of: fields),
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
}
