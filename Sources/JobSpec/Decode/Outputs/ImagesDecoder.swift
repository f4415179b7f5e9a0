internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct ImagesDecoder {
    let reader: NodeReader

    /// Returns the image output; nil after an error is reported.
    func images(_ node: YAMLNode) -> ImagesSpec? {
        guard let fields = reader.fields(node, as: Language.images), let selection = selection(fields) else {
            return nil
        }
        var sheet: ImagesSpec.Sheet?
        if let node = fields.value("sheet") {
            guard let found = self.sheet(node) else { return nil }
            sheet = found
        }
        let size = reader.value("size", of: fields, as: Dimensions.self)
        let animation = reader.choice("animation", of: fields, as: AnimationFormat.self)
        // Without a valid `animation`, the file format is unknown.
        if fields.has("animation"), animation == nil { return nil }
        let aperture = reader.choiceOrDefault("aperture", of: fields, as: ApertureMode.self)
        return ImagesSpec(
            selection: selection, tolerance: fields.value("tolerance").flatMap { tolerance($0) } ?? .exact,
            size: size, aperture: aperture,
            isUpright: reader.word("orientation", of: fields)?.value != "ignore",
            animation: animation,
            quality: reader.integer("quality", of: fields), format: format(node), sheet: sheet,
            range: node.range)
    }

    /// Returns the name of the format; nil if the job file doesn't set one.
    func format(_ node: YAMLNode) -> Located<String>? {
        guard case .mapping(let entries) = node.content,
            let entry = entries.first(where: { $0.key == "format" })
        else { return nil }
        return reader.word(entry.value, as: "format", of: Language.images)
    }

    private func selection(_ fields: Fields) -> ImagesSpec.Selection? {
        if let node = fields.value("at") {
            let nodes = if case .sequence(let items) = node.content { items } else { [node] }
            let times = nodes.compactMap { reader.value($0, "`at`", Language.time) }
            if nodes.isEmpty {
                reader.sink.error(.missingKey, "the list of times is empty", at: node.range)
            }
            if nodes.count > Language.maxImages {
                reader.sink.error(
                    .yamlLimit, "the list has more than \(Language.maxImages) times", at: node.range)
            }
            return times.count == nodes.count && !times.isEmpty && times.count <= Language.maxImages
                ? .at(times) : nil
        }
        if fields.has("every") {
            return reader.length("every", of: fields).map { .every($0) }
        }
        if fields.has("count") { return reader.integer("count", of: fields).map { .count($0) } }
        if fields.has("scenes") { return reader.thousandths("scenes", of: fields).map { .scenes($0) } }
        return fields.value("keyframes").flatMap { reader.word($0, "`keyframes`", of: ["true"]) }.map {
            .keyFrames($0.range)
        }
    }

    private func tolerance(_ node: YAMLNode) -> ImageTolerance? {
        if node.text != nil {
            return reader.word(node, as: "tolerance", of: Language.images).map { _ in .keyFrame }
        }
        guard let fields = reader.fields(node, as: Language.imageTolerance) else { return nil }
        return ImageTolerance(
            before: reader.valueOrDefault("before", of: fields),
            after: reader.valueOrDefault("after", of: fields))
    }

    private func sheet(_ node: YAMLNode) -> ImagesSpec.Sheet? {
        guard let fields = reader.fields(node, as: Language.imageSheet) else { return nil }
        let columns = reader.integer("columns", of: fields)
        let rows = reader.integer("rows", of: fields)
        let index = reader.word("index", of: fields)
        return columns.map {
            ImagesSpec.Sheet(columns: $0.value, rows: rows, index: index?.range, range: node.range)
        }
    }
}

extension ImagesSpec {
    /// Returns the track rule that encodes the images.
    func rule(codec: CodecSelection, at formatLocation: SourceRange) -> TrackRule {
        let location = range
        let standard = Located("bt709", at: location)
        var spec = VideoEncodeSpec(codec: Located(codec, at: formatLocation), options: [], range: location)
        spec.rateControl = quality.map { Located(.quality($0.value), at: $0.range) }
        // `.angle(0)` ignores the source's display matrix.
        spec.orientation = Located(isUpright ? .bake : .angle(0), at: location)
        spec.color = ColorSpec(
            primaries: standard, transfer: standard, matrix: standard, levels: nil,
            isForHighRangeAlone: true, range: location)
        return TrackRule(video: spec, at: location)
    }
}
