internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of an asset: a path, a file with settings, a URL, a test signal, images, or the output of another job.
struct AssetDecoder {
    let reader: NodeReader

    /// Returns the asset; nil after an error is reported. For the output of a job, `instance` is the job's id
    /// until the instance is known.
    func asset(_ node: YAMLNode) -> AssetSpec? {
        if node.text != nil {
            guard let source = path(node) else { return nil }
            return AssetSpec(source: source, timing: .fast, range: node.range)
        }
        guard case .mapping(let entries) = node.content else {
            let isList = if case .sequence = node.content { true } else { false }
            reader.sink.error(
                .wrongType, "an asset must be a path or a mapping, not \(node.kind)", at: node.range,
                help: isList
                    ? "`composition: [a.mp4, b.mp4]` joins files; a pattern (`media/*.mp4`) or a `matrix` runs the job once for each"
                    : nil)
            return nil
        }
        if entries.contains(where: { $0.key == "pattern" }) { return pattern(node) }
        if entries.contains(where: { $0.key == "job" }) {
            guard let fields = reader.fields(node, as: Language.jobAsset), let job = fields["job"],
                let id = reader.text(job.value, "`job`")
            else { return nil }
            let output = fields["output"].flatMap { reader.text($0.value, "`output`") }
            if fields["output"] != nil, output == nil { return nil }
            if let output, !NodeReader.isIdentifier(output.value) {
                reader.sink.error(
                    .invalidName, "`\(output.value)` is not a valid output id", at: output.range,
                    help: "ids contain only letters, digits, `_` and `-`")
                return nil
            }
            return AssetSpec(
                source: .job(id, instance: id.value, output: output), timing: .fast, range: node.range)
        }
        if entries.contains(where: { $0.key == "url" }) { return remote(node) }
        if entries.contains(where: { $0.key == "images" }) { return images(node) }
        if entries.contains(where: { $0.key == "image" }) { return image(node) }
        guard let fields = reader.fields(node, as: Language.fileAsset) else { return nil }
        let timing = reader.choice("timing", of: fields, as: AssetTiming.self)
        guard let source = fields["path"].flatMap({ path($0.value) }) else { return nil }
        return AssetSpec(
            source: source, timing: timing?.value ?? .fast,
            range: node.range)
    }

    private func remote(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.urlAsset) else { return nil }
        let timing = reader.choice("timing", of: fields, as: AssetTiming.self)
        let url = reader.value(
            fields.value("url"), "`url`",
            "expected an http or https URL such as https://host/path, without spaces, and without a password, which reports would contain"
        ) { Self.isURL($0) ? $0 : nil }
        guard let url else { return nil }
        return AssetSpec(
            source: .url(url), timing: timing?.value ?? .fast,
            range: node.range)
    }

    private static func isURL(_ text: String) -> Bool {
        guard SourceLocation.isRemote(text), text.utf8.count <= 4096,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return false }
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        let host = rest.prefix { $0 != "/" }
        return !host.isEmpty && !host.contains("@") && host.count < rest.count
    }

    private func images(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.imagesAsset) else { return nil }
        let path = fields.value("images").flatMap { plainPath($0) }
        let rate = rate(fields)
        guard let path, let rate else { return nil }
        guard NumberedName(path: path.value) != nil else {
            reader.sink.error(
                .invalidValue, "the file name must contain exactly one placeholder for the number",
                at: path.range,
                help:
                    "`%05d` stands for five digits, as in `frame-%05d.png`, `%d` for any number of digits; `%%` is a percent sign"
            )
            return nil
        }
        return AssetSpec(
            source: .images(path, frameRate: rate.value), timing: .fast, range: node.range)
    }

    private func image(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.imageAsset) else { return nil }
        let path = fields.value("image").flatMap { plainPath($0) }
        let length = reader.length("duration", of: fields, "must be a time from 0.001 s to a day, such as 5s")
        let rate = rate(fields)
        guard let path, let length, !fields.has("frame_rate") || rate != nil else { return nil }
        return AssetSpec(
            source: .image(path, duration: length.value, frameRate: rate?.value ?? Rational(25, 1)),
            timing: .fast, range: node.range)
    }

    private func rate(_ fields: Fields) -> Located<Rational>? {
        reader.value(
            fields.value("frame_rate"), "`frame_rate`",
            "expected a frame rate such as 25, 29.97 or 30000/1001, up to 1000"
        ) { Quantity.frameRate($0) }
    }

    /// Reads a path without glob expansion: `*` and `?` are ordinary characters.
    private func plainPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.text(node, "a path") else { return nil }
        guard !path.value.isEmpty, path.value.utf8.count <= 4096 else {
            reader.sink.error(.invalidValue, "a path must have from 1 to 4096 bytes", at: path.range)
            return nil
        }
        if reader.hasTypographicQuotes(node, path: path) { return nil }
        return path
    }

    private func path(_ node: YAMLNode) -> AssetSpec.Source? {
        guard let path = reader.text(node, "a path") else { return nil }
        guard !path.value.isEmpty, path.value.utf8.count <= 4096 else {
            reader.sink.error(.invalidValue, "a path must have from 1 to 4096 bytes", at: path.range)
            return nil
        }
        if reader.hasTypographicQuotes(node, path: path) { return nil }
        if path.value.utf8.contains(0x3a), path.value.contains("://") {
            reader.sink.error(
                .invalidValue, "a path must be a local file, not a URL", at: path.range,
                help: SourceLocation.isRemote(path.value)
                    ? "write a remote asset as `{ url: … }`; it requires `--allow-network`"
                    : "only http and https URLs are supported, as `{ url: … }`; copy other sources to a local file"
            )
            return nil
        }
        guard GlobPattern.isPattern(path.value) else { return .file(path) }
        if let problem = GlobPattern.problem(path.value) {
            reader.sink.error(.invalidValue, "invalid pattern: \(problem)", at: path.range)
            return nil
        }
        return .glob(path)
    }

    private func pattern(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.pattern) else { return nil }
        let name = reader.word("pattern", of: fields)
        let size = reader.value(
            fields.value("size"), "`size`", "expected a size such as 1280x720, both sides even"
        ) { text in
            Quantity.dimensions(text).flatMap {
                $0.width.map { $0 % 2 == 0 } == true && $0.height.map { $0 % 2 == 0 } == true ? $0 : nil
            }
        }
        let rate = rate(fields)
        let tone = reader.value(
            fields.value("tone"), "`tone`", "expected a frequency from 1 Hz to 20 kHz, such as 1kHz"
        ) {
            Quantity.frequency($0).flatMap {
                Language.tone.integers?.contains(Int($0)) == true ? Int($0) : nil
            }
        }
        let length = reader.length(
            "duration", of: fields, "must be a time from 0.001 s to a day, such as 10s")
        if fields.has("duration"), length == nil { return nil }
        guard let name else { return nil }
        return AssetSpec(
            source: .pattern(
                TestPattern(
                    name: name.value, width: size?.value.width ?? 1280, height: size?.value.height ?? 720,
                    frameRate: rate?.value ?? Rational(25, 1),
                    duration: length?.value ?? MediaTime(value: 10, timescale: 1),
                    toneFrequency: tone?.value)),
            timing: .fast, range: node.range)
    }
}
