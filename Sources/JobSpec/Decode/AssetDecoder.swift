internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// The decoding of an asset: a path, a file with settings, a test signal, images, or the output of another
/// job.
struct AssetDecoder {
    let reader: NodeReader

    /// Returns the asset; nil after an error is reported. For the output of a job, `run` is the job's id
    /// until the instance is known.
    func asset(_ node: YAMLNode) -> AssetSpec? {
        if node.text != nil {
            guard let source = path(node) else { return nil }
            return AssetSpec(source: source, timing: .fast, range: node.range)
        }
        guard case .mapping(let entries) = node.content else {
            let isList = if case .sequence = node.content { true } else { false }
            reader.sink.error(
                .wrongType, "an asset is a path or a mapping, not \(node.kind)", at: node.range,
                help: isList
                    ? "`composition: [a.mp4, b.mp4]` joins them; a pattern (`media/*.mp4`) or a `matrix` runs the job once for each"
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
                    .invalidName, "`\(output.value)` is no output's id", at: output.range,
                    help: "ids have letters, digits, `_` and `-`")
                return nil
            }
            return AssetSpec(
                source: .job(id, run: id.value, output: output), timing: .fast, range: node.range)
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
            "it is written like https://host/path, without blanks and without a password, which would stand in every report"
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
                .invalidValue, "the name has no place for the number, or more than one", at: path.range,
                help:
                    "`frame-%05d.png` is numbered with five digits, `%d` with as many as it takes; `%%` is a percent sign"
            )
            return nil
        }
        return AssetSpec(
            source: .images(path, frameRate: rate.value), timing: .fast, range: node.range)
    }

    private func image(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.imageAsset) else { return nil }
        let path = fields.value("image").flatMap { plainPath($0) }
        let length = reader.length("duration", of: fields, "an image is shown for some time, up to a day")
        let rate = rate(fields)
        guard let path, let length, !fields.has("frame_rate") || rate != nil else { return nil }
        return AssetSpec(
            source: .image(path, duration: length.value, frameRate: rate?.value ?? Rational(25, 1)),
            timing: .fast, range: node.range)
    }

    private func rate(_ fields: Fields) -> Located<Rational>? {
        reader.value(
            fields.value("frame_rate"), "`frame_rate`",
            "it is written like 25, 29.97 or 30000/1001, up to 1000"
        ) { Quantity.frameRate($0) }
    }

    /// Reads a path without pattern characters: all characters are part of the name.
    private func plainPath(_ node: YAMLNode) -> Located<String>? {
        guard let path = reader.text(node, "a path") else { return nil }
        guard !path.value.isEmpty, path.value.utf8.count <= 4096 else {
            reader.sink.error(.invalidValue, "a path has between 1 and 4096 bytes", at: path.range)
            return nil
        }
        return path
    }

    private func path(_ node: YAMLNode) -> AssetSpec.Source? {
        guard let path = reader.text(node, "a path") else { return nil }
        guard !path.value.isEmpty, path.value.utf8.count <= 4096 else {
            reader.sink.error(.invalidValue, "a path has between 1 and 4096 bytes", at: path.range)
            return nil
        }
        if path.value.utf8.contains(0x3a), path.value.contains("://") {
            reader.sink.error(
                .invalidValue, "a path names a local file, not a URL", at: path.range,
                help: "a remote asset is written `{ url: … }`, and needs `--allow-network`")
            return nil
        }
        guard GlobPattern.isPattern(path.value) else { return .file(path) }
        if let problem = GlobPattern.problem(path.value) {
            reader.sink.error(.invalidValue, "the pattern: \(problem)", at: path.range)
            return nil
        }
        return .glob(path)
    }

    private func pattern(_ node: YAMLNode) -> AssetSpec? {
        guard let fields = reader.fields(node, as: Language.pattern) else { return nil }
        let name = reader.word("pattern", of: fields)
        let size = reader.value(
            fields.value("size"), "`size`", "it is written like 1280x720, both sides even"
        ) { text in
            Quantity.dimensions(text).flatMap {
                $0.width.map { $0 % 2 == 0 } == true && $0.height.map { $0 % 2 == 0 } == true ? $0 : nil
            }
        }
        let rate = rate(fields)
        let tone = reader.value(
            fields.value("tone"), "`tone`", "it is a frequency from 1 Hz to 20 kHz, like 1kHz"
        ) {
            Quantity.frequency($0).flatMap {
                Language.tone.integers?.contains(Int($0)) == true ? Int($0) : nil
            }
        }
        let length = reader.length("duration", of: fields, "a test signal lasts some time, up to a day")
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
