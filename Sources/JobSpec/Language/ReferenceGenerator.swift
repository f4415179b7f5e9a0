internal import LibAV

/// Generator of the job language's reference in Markdown, from the tables that the decoder uses.
package enum ReferenceGenerator {
    /// Returns the complete page. `statuses` are the program's exit statuses in order of precedence, with their
    /// meanings.
    package static func reference(statuses: [(status: Int32, meaning: String)]) -> String {
        let text = """
            # The job language, version \(Language.version)

            Generated from the program's table by `tandem schema --reference`. The rule ids of messages are explained in
            [rules.md](rules.md). `schemas/tandem-v1.schema.json` is the schema for editors.

            ```yaml
            version: 1
            vars: { out: out }
            assets: { talk: media/talk.mov }
            settings:
              speech: { codec: aac, bitrate: 128k, normalize: -16 }
            defaults: { destination: { if_exists: replace } }
            jobs:
              web:
                asset: talk
                range: { start: "0:10", end: "1:50" }
                tracks:
                  - { video: first, encode: { codec: h264, crf: 23, size: 1280x720 } }
                  - { audio: { language: eng }, encode: speech }
                metadata: { set: { title: Web cut } }
                destination: "${out}/${asset.stem}.mp4"
                expect: { duration: { is: 100s, within: 40ms } }
            ```

            ## Contents


            """
        var sections = ""
        var seen: Set<String> = []
        var queue = [Language.file]
        while !queue.isEmpty {
            let type = queue.removeFirst()
            guard seen.insert(type.name).inserted else { continue }
            sections += section(type)
            for key in type.keys { queue += mappings(in: key.type) }
        }
        sections += ReferenceGrammar.text(statuses: statuses) + filters + encoders + encoderOptions
        return text + contents(of: sections) + "\n" + sections
    }

    /// Returns a table of contents with a link to each section.
    private static func contents(of text: String) -> String {
        text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { line in
            let title = line.dropFirst(3)
            // Anchors as GitHub generates them.
            let anchor = title.lowercased().compactMap { letter -> Character? in
                letter == " "
                    ? "-" : letter.isLetter || letter.isNumber || "-_".contains(letter) ? letter : nil
            }
            return "- [\(title)](#\(String(anchor)))\n"
        }.joined()
    }

    /// The section that lists the filters that job files may use.
    private static var filters: String {
        var text = """

            ## Filters

            Each filter has one input and one output, keeps the number of frames, and opens no file. A value is a number, a constant of the filter, or, as stated in
            FFmpeg's documentation, an expression without `while`, `taylor` and `root`. `enable` is available for filters that support it.


            """
        for type in [MediaType.video, .audio] {
            let names = FilterCatalog.tables(type).keys.sorted().map { "`\($0)`" }
            text += "**\(type.rawValue)**: \(names.joined(separator: ", "))\n\n"
        }
        return text
    }

    /// The section that lists the encoders of each codec.
    private static var encoders: String {
        var text = """
            ## Encoders

            In order of preference: a codec is encoded by its first software encoder that FFmpeg was built with, unless `encoder` names another one. `tandem codecs` lists those of this
            build.

            | codec | encoders |
            | --- | --- |

            """
        for selection in CodecCatalog.video + CodecCatalog.audio {
            let names = selection.codec.encoders.map { model in
                "`\(model.name)`" + (model.requirement == nil ? "" : " (hardware)")
            }
            text += "| \(selection.name) | \(names.joined(separator: ", ")) |\n"
        }
        let keys = (CodecCatalog.video.first?.encoder.settings ?? []).map { "`\($0.key)`" }
        text +=
            "\nValues of \(keys.joined(separator: ", ")) of `encode`. An encoder without a row for one of them doesn't have it.\n\n"
        text += "| encoder | setting | values |\n| --- | --- | --- |\n"
        for model in (CodecCatalog.video + CodecCatalog.audio).flatMap(\.codec.encoders) {
            for case (let key, let type?) in model.settings {
                text += "| `\(model.name)` | `\(key)` | \(escaped(values(of: type))) |\n"
            }
        }
        return text + "\n"
    }

    /// The section that lists the private options of encoders that job files may set.
    private static var encoderOptions: String {
        var text = "## Encoder options\n\n| encoder | options |\n| --- | --- |\n"
        for encoder in EncoderOptionCatalog.names {
            let names = EncoderOptionCatalog.options(of: encoder).names
            text += "| \(encoder) | \(names.map { "`\($0)`" }.joined(separator: ", ")) |\n"
        }
        text += "\nOptions that contain a list of settings:\n\n| option | settings |\n| --- | --- |\n"
        for option in EncoderOptionCatalog.lists {
            let names = EncoderOptionCatalog.parameters(of: option)?.names ?? []
            text += "| `\(option)` | \(names.map { "`\($0)`" }.joined(separator: ", ")) |\n"
        }
        return text
    }

    /// Returns the mappings that a type contains. Partial mappings are represented by the complete ones.
    private static func mappings(in type: ValueType) -> [MappingType] {
        switch type {
        case .mapping(let mapping): [complete(mapping)]
        case .mapOf(let value, _, _): mappings(in: value)
        case .list(let element, _, _): mappings(in: element)
        case .oneOf(let types): types.flatMap { mappings(in: $0) }
        default: []
        }
    }

    private static func complete(_ type: MappingType) -> MappingType {
        for suffix in ["Part", "Settings"] where type.name.hasSuffix(suffix) {
            return completeTypes[String(type.name.dropLast(suffix.count))] ?? type
        }
        return type
    }

    /// Complete mappings by name.
    private static let completeTypes: [String: MappingType] = {
        var found: [String: MappingType] = [:]
        var queue = [Language.job, Language.output, Language.videoEncode, Language.audioEncode]
        func direct(_ type: ValueType) -> [MappingType] {
            switch type {
            case .mapping(let mapping): [mapping]
            case .mapOf(let value, _, _): direct(value)
            case .list(let element, _, _): direct(element)
            case .oneOf(let types): types.flatMap(direct)
            default: []
            }
        }
        while let type = queue.popLast() {
            guard found[type.name] == nil else { continue }
            found[type.name] = type
            for key in type.keys { queue += direct(key.type) }
        }
        return found
    }()

    private static func section(_ type: MappingType) -> String {
        var text =
            "## \(type.title.first.map { $0.uppercased() + type.title.dropFirst() } ?? "")\n\n\(type.summary)"
        if let short = type.shortForm { text += " A single value stands for `{ \(short): … }`." }
        text += "\n\n| key | value | meaning |\n| --- | --- | --- |\n"
        for key in type.keys {
            var meaning = key.summary
            if let value = key.defaultText { meaning += " Default: \(value)." }
            if key.isRequired { meaning += " **Required.**" }
            text += "| `\(key.name)` | \(escaped(describe(key.type))) | \(escaped(meaning)) |\n"
        }
        for group in type.alternatives {
            let names = group.keys.map { "`\($0)`" }.joined(separator: ", ")
            switch (group.isRequired, group.isExclusive) {
            case (true, true): text += "\nExactly one of \(names).\n"
            case (true, false): text += "\nAt least one of \(names).\n"
            default: text += "\nAt most one of \(names).\n"
            }
        }
        for dependency in type.dependencies {
            text += "\n`\(dependency.key)` requires `\(dependency.required)`.\n"
        }
        if !type.reservedKeys.isEmpty {
            text +=
                "\nReserved, but not supported in this version: \(type.reservedKeys.map { "`\($0)`" }.joined(separator: ", ")).\n"
        }
        return text + "\n"
    }

    /// Returns all values of a type; `describe` abbreviates long lists.
    private static func values(of type: ValueType) -> String {
        if case .word(let words) = type { return words.map { "`\($0)`" }.joined(separator: ", ") }
        return describe(type)
    }

    private static func escaped(_ text: String) -> String { text.replacing("|", with: "\\|") }

    private static func describe(_ type: ValueType) -> String {
        switch type {
        case .string: "text"
        case .identifier: "an identifier"
        case .scalar(let syntax): syntax.forms.map(describe).joined(separator: " or ")
        case .onlyTrue: "`true`"
        case .word(let words): describe(.word(words) as ScalarForm)
        case .mapping(let mapping): complete(mapping).title
        case .mapOf(let value, let keys, _):
            switch keys {
            case .identifiers: "names, each with \(describe(value))"
            case .any: "keys, each with \(describe(value))"
            }
        case .list(let element, _, _): "a list of \(describe(element))"
        case .oneOf(let types): describe(types)
        }
    }

    /// Returns the description of a choice. A list of the choice's other types is "a list of these".
    private static func describe(_ types: [ValueType]) -> String {
        let values = types.filter { if case .list = $0 { false } else { true } }
        let names = values.map(describe).joined(separator: " or ")
        return types.map { type in
            guard values.count > 1, case .list(let element, _, _) = type, describe(element) == names else {
                return describe(type)
            }
            return "a list of these"
        }.joined(separator: " or ")
    }

    private static func describe(_ form: ScalarForm) -> String {
        switch form {
        case .integer(let range):
            range.lowerBound == range.upperBound
                ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            "\(ScalarForm.text(range.lowerBound)) to \(ScalarForm.text(range.upperBound))"
        case .boolean: "`true`, `false`"
        case .word(let words):
            words.count > 16
                ? words.prefix(16).map { "`\($0)`" }.joined(separator: ", ") + ", …"
                : words.map { "`\($0)`" }.joined(separator: ", ")
        case .text(_, let example), .libraryName(_, let example): "such as `\(example)`"
        }
    }
}
