internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import YAMLDocument

struct WaveformDecoder {
    let reader: NodeReader
    let settings: SettingsResolver
    /// Whether the destination, or the source of a job without a valid one, depends on matches of a pattern that are
    /// not known yet.
    let isTemplate: Bool

    /// Returns the waveform; nil after an error is reported. `destination` determines the format if `format` is not
    /// set; it is nil if the destination is missing or invalid.
    func waveform(_ node: YAMLNode, destination: Located<String>?) -> (spec: WaveformSpec, rule: TrackRule)? {
        guard let fields = reader.fields(node, as: Language.waveform) else { return nil }
        let named = reader.choice("format", of: fields, as: WaveformFormat.self)
        let isNamed = fields.has("format")
        guard !isNamed || named != nil else { return nil }
        guard let format = format(named, destination) else { return nil }
        let size = reader.value("size", of: fields, as: PixelSize.self)
        if let size, size.value.width * size.value.height > Self.maxPixels {
            reader.sink.error(
                .invalidValue, "\(size.value) has more than \(Self.maxPixels / 1_000_000) million pixels",
                at: size.range)
        }
        let samples = reader.integer("samples_per_pixel", of: fields)
        let bits = reader.choiceOrDefault("bits", of: fields, as: WaveformBitsWord.self)
        let measure = reader.choiceOrDefault("measure", of: fields, as: WaveformImage.Measure.self)
        let colors = fields["colors"].flatMap { reader.fields($0.value, as: Language.waveformColors) }
        if let kind = format.value {
            let foreign = kind.isDrawn ? ["samples_per_pixel", "bits"] : ["size", "colors", "measure"]
            for key in foreign {
                guard let entry = fields[key] else { continue }
                reader.sink.error(
                    .conflictingKeys,
                    kind.isDrawn
                        ? "`\(key)` requires json or dat, not \(kind.rawValue)"
                        : "`\(key)` requires png or svg, not \(kind.rawValue)",
                    at: entry.keyRange,
                    notes: [Diagnostic.Note("the format is determined here", at: format.range)])
            }
        }
        let spec = WaveformSpec(
            format: format.value, size: size?.value ?? reader.defaultValue("size", of: fields.type),
            samplesPerPixel: samples, bits: bits == .sixteen ? .sixteen : .eight,
            background: color("background", of: colors), color: color("waveform", of: colors),
            splitsChannels: reader.valueOrDefault("split_channels", of: fields),
            measure: measure, range: node.range)
        guard let rule = rule(fields, at: node.range) else { return nil }
        return (spec, rule)
    }

    private static let maxPixels = 64_000_000

    private func color(_ key: String, of fields: Fields?) -> WaveformImage.Color {
        fields.map { reader.valueOrDefault(key, of: $0) }
            ?? reader.defaultValue(key, of: Language.waveformColors)
    }

    /// Returns the format from `named`, otherwise from the destination's extension, with a nil value if that is not
    /// known yet. Returns nil after an error is reported.
    private func format(
        _ named: Located<WaveformFormat>?, _ destination: Located<String>?
    ) -> Located<WaveformFormat?>? {
        if let named { return Located(named.value, at: named.range) }
        guard let destination else { return Located(nil, at: .startOfFile("")) }
        let ending = destination.value.pathParts.last?.nameParts.ending?.lowercased() ?? ""
        if let format = WaveformFormat(rawValue: ending) { return Located(format, at: destination.range) }
        if isTemplate, ending.isEmpty || GlobPattern.isPattern(ending) {
            return Located(nil, at: destination.range)
        }
        reader.sink.error(
            .unknownContainer, "the destination's extension doesn't determine a waveform format",
            at: destination.range,
            help:
                "set `format` of `waveform` to one of \(WaveformFormat.allCases.map(\.rawValue).joined(separator: ", "))"
        )
        return nil
    }

    /// Returns the rule for the measured track, which is decoded to 16-bit samples.
    private func rule(_ fields: Fields, at location: SourceRange) -> TrackRule? {
        var selection = TrackSelection(.first, at: location)
        if let node = fields.value("audio") {
            if node.text.flatMap(SelectionWord.init) == .all {
                reader.sink.error(
                    .invalidValue,
                    "a waveform can't select several tracks; expected `first`, an index, a mapping, or a list of these",
                    at: node.range)
                return nil
            }
            guard
                let found = SelectionDecoder(reader: reader).selection(node, of: .audio, allowsAll: false)
            else { return nil }
            selection = found
        }
        let spec = AudioEncodeSpec(
            codec: Located(CodecCatalog.waveform, at: location), options: [], range: location)
        return TrackRule(
            mediaType: .audio, selection: selection, action: .encodeAudio(spec), isOptional: false,
            metadata: [], range: location)
    }
}

/// Decoding of an output with `waveform`.
extension OutputDecoder {
    /// Decodes a waveform; nil after an error is reported.
    func waveform(_ entry: YAMLNode.Entry, _ fields: Fields) -> OutputSpec? {
        refuseMediaKeys(fields, entry)
        let leftover = reader.choice("leftover", of: fields, as: Leftover.self)
        let destination = fields["destination"].flatMap { destinations.file($0.value) }
        let decoder = WaveformDecoder(
            reader: reader, settings: settings, isTemplate: destination?.isTemplate ?? isTemplate)
        guard let (spec, rule) = decoder.waveform(entry.value, destination: destination?.path),
            let destination
        else {
            return nil
        }
        let container = spec.format.flatMap { ContainerType.named($0.containerName) }
        return OutputSpec(
            id: id, tracks: [rule], kind: .waveform(spec),
            container: container.map { Located($0, at: spec.range) }, leftover: leftover,
            destination: destination)
    }
}
