internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media

/// Validation of an image output without media.
enum ImagesCheck {
    static func check(_ output: OutputSpec, into sink: inout DiagnosticSink) {
        guard let images = output.images else { return }
        checkNames(of: output, images, into: &sink)
        if let format = output.container, let codec = images.codec(of: format.value) {
            _ = EncodeCheck.encoder(Located(codec, at: format.range), into: &sink)
            if let quality = images.quality, codec.stillQuality == nil {
                sink.error(
                    .codecSetting,
                    codec.isLossless
                        ? "`quality` is not supported by \(codec.name), which is lossless"
                        : "`quality` is not supported by \(codec.name)",
                    at: quality.range)
            }
        }
        if case .keyFrames(let location) = images.selection, !images.tolerance.isExact {
            sink.error(
                .conflictingKeys, "`keyframes` can't be combined with `tolerance`",
                at: location)
        }
    }

    /// Reports `${image.number}` or `${image.time}` in the destination of a sheet or an animation, which is a single
    /// file.
    private static func checkOneFile(
        _ name: String, at location: SourceRange, isNumbered: Bool, _ path: Located<String>,
        into sink: inout DiagnosticSink
    ) {
        guard isNumbered else { return }
        sink.error(
            .conflictingKeys,
            "\(name) is a single file, so `${image.number}` and `${image.time}` can't be in its name",
            at: path.range, notes: [Diagnostic.Note("it is requested here", at: location)])
    }

    /// Reports a destination with a single name for several image files, and one with placeholders for a single file.
    private static func checkNames(
        of output: OutputSpec, _ images: ImagesSpec, into sink: inout DiagnosticSink
    ) {
        guard let path = output.destination?.path else { return }
        let isNumbered = output.namesEachImage
        if let animation = images.animation {
            if let sheet = images.sheet {
                sink.error(
                    .conflictingKeys, "`animation` can't be combined with `sheet`",
                    at: animation.range, notes: [Diagnostic.Note("`sheet` is here", at: sheet.range)])
            }
            if let format = images.format {
                sink.error(
                    .conflictingKeys,
                    "`format` can't be combined with `animation`, which determines the format",
                    at: format.range,
                    notes: [Diagnostic.Note("`animation` is here", at: animation.range)])
            }
            return checkOneFile(
                "an animation", at: animation.range, isNumbered: isNumbered, path, into: &sink)
        }
        if let sheet = images.sheet {
            checkOneFile("a sheet", at: sheet.range, isNumbered: isNumbered, path, into: &sink)
            if let rows = sheet.rows, let count = images.selection.count, count > sheet.columns * rows.value {
                sink.error(
                    .invalidValue,
                    "\(count) still images don't fit into \(sheet.columns) columns and \(rows.value) rows",
                    at: images.location, notes: [Diagnostic.Note("`rows` is here", at: rows.range)])
            }
            return
        }
        if !isNumbered, images.selection.count != 1 {
            sink.error(
                .missingKey, "several still images require a destination with a name for each",
                at: path.range,
                help:
                    "`\(ImagesSpec.Placeholder.number)` or `\(ImagesSpec.Placeholder.time)` names each file; `sheet` or `animation` writes a single file"
            )
        }
        if isNumbered, let slash = path.value.lastSlash,
            ImagesSpec.Placeholder.all.contains(where: { path.value[..<slash].contains($0) })
        {
            sink.error(
                .invalidValue, "the placeholder of still images must be in the file name, not in a folder",
                at: path.range)
        }
    }
}

extension ImagesSpec {
    /// Returns the codec of the image files; nil if the container isn't an image format.
    func codec(of container: ContainerType) -> CodecSelection? {
        animation == nil ? CodecCatalog.imageCodec(container.name) : CodecCatalog.animation(container.name)
    }
}

extension ImagesSpec.Selection {
    /// Number of images, if the job file determines it; nil if it depends on the source.
    package var count: Int? {
        switch self {
        case .at(let times): times.count
        case .count(let count): count.value
        case .every, .keyFrames, .scenes: nil
        }
    }
}

extension ImagesSpec.Placeholder {
    static let all = [number, time]
}

extension OutputSpec {
    /// Whether each image is a separate file, according to the destination's name.
    package var namesEachImage: Bool {
        guard let path = destination?.path.value else { return false }
        return ImagesSpec.Placeholder.all.contains { path.contains(ascii: $0) }
    }
}
