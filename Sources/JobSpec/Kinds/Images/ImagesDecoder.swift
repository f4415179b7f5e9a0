internal import Diagnostics
internal import ExactStrings
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
            if nodes.count > ImagesSpec.maxImages {
                reader.sink.error(
                    .yamlLimit, "the list has more than \(ImagesSpec.maxImages) times", at: node.range)
            }
            return times.count == nodes.count && !times.isEmpty && times.count <= ImagesSpec.maxImages
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

/// Decoding of an output with `images`.
extension OutputDecoder {
    /// Decodes an image output; nil after an error is reported.
    func images(_ entry: YAMLNode.Entry, _ fields: Fields) -> OutputSpec? {
        refuseMediaKeys(fields, entry)
        let decoder = ImagesDecoder(reader: reader)
        let images = decoder.images(entry.value)
        let leftover = reader.choice("leftover", of: fields, as: Leftover.self)
        guard let destination = fields["destination"].flatMap({ destinations.file($0.value) }) else {
            return nil
        }
        // The format depends on `animation`, whose errors are already reported.
        if images == nil, entry.value[key: "animation"] != nil { return nil }
        let isAnimation = images?.animation != nil
        let format = imageFormat(
            images?.animation.map { Located($0.value.rawValue, at: $0.range) } ?? images?.format
                ?? decoder.format(entry.value), destination,
            isAnimation: isAnimation)
        guard let images, format != nil || destination.isTemplate else { return nil }
        let codec = format.flatMap { images.codec(of: $0.value) } ?? CodecCatalog.imageCodecs[0]
        let rule = images.rule(codec: codec, at: format?.range ?? images.range)
        return OutputSpec(
            id: id, tracks: [rule], kind: .images(images), container: format, leftover: leftover,
            destination: destination)
    }

    /// Decodes the sheet of images that is a package's thumbnails; nil after an error is reported.
    func thumbnails(
        _ entry: YAMLNode.Entry, _ fields: Fields, at package: SourceRange
    ) -> OutputSpec? {
        refuseMediaKeys(fields, entry)
        let leftover = reader.choice("leftover", of: fields, as: Leftover.self)
        guard let images = ImagesDecoder(reader: reader).images(entry.value) else { return nil }
        let format = images.format ?? Located("jpeg", at: images.range)
        guard let container = ContainerType.named(format.value), let codec = images.codec(of: container)
        else { return nil }
        return OutputSpec(
            id: id, tracks: [images.rule(codec: codec, at: format.range)], kind: .images(images),
            container: Located(container, at: format.range), leftover: leftover)
    }

    /// Returns the format of image files from `named` (`format` or `animation`), otherwise from the destination's
    /// extension. An extension that contradicts `named` is reported.
    private func imageFormat(
        _ named: Located<String>?, _ destination: DestinationSpec, isAnimation: Bool
    ) -> Located<ContainerType>? {
        let name = DestinationDecoder.lastPart(of: destination.path.value)
        let location = destination.path.range
        let ending = name.nameParts.ending
        let formats = ContainerType.stillImages.map(\.name).joined(separator: ", ")
        let extensionFormat = ending.flatMap {
            ContainerType.stillImage(forExtension: $0) ?? ContainerType.animation(forExtension: $0)
        }
        if let named {
            let types = isAnimation ? ContainerType.animations : ContainerType.stillImages
            guard let type = types.first(where: { $0.name == named.value }) else { return nil }
            let isOther = ending.map { ContainerType.forExtension($0) != nil } ?? false
            if !destination.isTemplate, isOther || extensionFormat.map({ $0 != type }) ?? false {
                reader.sink.error(
                    .unknownContainer,
                    "the extension `.\(ending ?? "")` doesn't match the format \(type.name)", at: location,
                    notes: [Diagnostic.Note("the format is here", at: named.range)])
            }
            return Located(type, at: named.range)
        }
        if let extensionFormat, !ContainerType.stillImages.contains(extensionFormat) {
            reader.sink.error(
                .unknownContainer, "\(extensionFormat.name) is a format of animations, not of still images",
                at: location,
                help: "`animation: \(extensionFormat.name)` in `images` writes an animation")
            return nil
        }
        if let extensionFormat { return Located(extensionFormat, at: location) }
        if destination.isTemplate, ending.map({ GlobPattern.isPattern($0) }) ?? true { return nil }
        reader.sink.error(
            .unknownContainer,
            ending.map { "`.\($0)` is not the extension of an image format" }
                ?? "the destination has no extension, which determines the format",
            at: location, help: "set `format` of `images` to one of \(formats)")
        return nil
    }
}
