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
        let sections = sections(statuses: statuses).map(\.markdown).joined(separator: "\n")
        return text + contents(of: sections) + "\n" + sections
    }

    /// Returns all sections: the mappings of the job language from the outside in, then grammar and encoders.
    static func sections(statuses: [(status: Int32, meaning: String)]) -> [ReferenceSection] {
        allMappings.map { section($0) } + ReferenceGrammar.sections(statuses: statuses)
            + [filters, encoders, encoderOptions]
    }

    /// The mappings of the job language, without repetition, from the outside in.
    static let allMappings: [MappingType] = {
        var found: [MappingType] = []
        var seen: Set<String> = []
        var queue = [Language.file]
        while !queue.isEmpty {
            let type = queue.removeFirst()
            guard seen.insert(type.name).inserted else { continue }
            found.append(type)
            for key in type.keys { queue += mappings(in: key.type) }
        }
        return found
    }()

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
    private static var filters: ReferenceSection {
        let lists = [MediaType.video, .audio].map { type in
            let names = FilterCatalog.tables(type).keys.sorted().map { "`\($0)`" }
            return ReferenceBlock.paragraph("**\(type.rawValue)**: \(names.joined(separator: ", "))")
        }
        return ReferenceSection(
            topic: "filters", title: "Filters", summary: "Filters of libavfilter that job files may use.",
            blocks: [
                .paragraph(
                    """
                    Each filter has one input and one output, keeps the number of frames, and opens no file. A value is a number, a constant of the filter, or, as stated in
                    FFmpeg's documentation, an expression without `while`, `taylor` and `root`. `enable` is available for filters that support it.
                    """)
            ] + lists)
    }

    /// The section that lists the encoders of each codec.
    private static var encoders: ReferenceSection {
        let selections = CodecCatalog.video + CodecCatalog.audio
        let codecs = selections.map { selection in
            let names = selection.codec.encoders.map { model in
                "`\(model.name)`" + (model.requirement == nil ? "" : " (hardware)")
            }
            return [selection.name, names.joined(separator: ", ")]
        }
        let keys = (CodecCatalog.video.first?.encoder.settings ?? []).map { "`\($0.key)`" }
        var settings: [[String]] = []
        for model in selections.flatMap(\.codec.encoders) {
            for case (let key, let type?) in model.settings {
                settings.append(["`\(model.name)`", "`\(key)`", values(of: type)])
            }
        }
        return ReferenceSection(
            topic: "encoders", title: "Encoders", summary: "Encoders of each codec, and their settings.",
            blocks: [
                .paragraph(
                    """
                    In order of preference: a codec is encoded by its first software encoder that FFmpeg was built with, unless `encoder` names another one. `tandem codecs` lists those of this
                    build.
                    """),
                .table(["codec", "encoders"], rows: codecs),
                .paragraph(
                    "Values of \(keys.joined(separator: ", ")) of `encode`. An encoder without a row for one of them doesn't have it."
                ),
                .table(["encoder", "setting", "values"], rows: settings),
            ])
    }

    /// The section that lists the private options of encoders that job files may set.
    private static var encoderOptions: ReferenceSection {
        func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
        return ReferenceSection(
            topic: "encoder-options", title: "Encoder options", summary: "Private options of encoders.",
            blocks: [
                .table(
                    ["encoder", "options"],
                    rows: EncoderOptionCatalog.names.map {
                        [$0, list(EncoderOptionCatalog.options(of: $0).names)]
                    }),
                .paragraph("Options that contain a list of settings:"),
                .table(
                    ["option", "settings"],
                    rows: EncoderOptionCatalog.lists.map {
                        ["`\($0)`", list(EncoderOptionCatalog.parameters(of: $0)?.names ?? [])]
                    }),
            ])
    }

    /// Returns the mappings that a type contains. Partial mappings are represented by the complete ones.
    static func mappings(in type: ValueType) -> [MappingType] {
        switch type {
        case .mapping(let mapping): [complete(mapping)]
        case .mapOf(let value, _, _): mappings(in: value)
        case .list(let element, _, _): mappings(in: element)
        case .oneOf(let types): types.flatMap { mappings(in: $0) }
        default: []
        }
    }

    private static func complete(_ type: MappingType) -> MappingType {
        type.isPartial ? completeTypes[type.completeName] ?? type : type
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

    private static func section(_ type: MappingType) -> ReferenceSection {
        var summary = type.summary
        if let short = type.shortForm { summary += " A single value stands for `{ \(short): … }`." }
        let keys = type.keys.map { ["`\($0.name)`", describe($0.type), meaning(of: $0)] }
        var blocks: [ReferenceBlock] = [
            .paragraph(summary), .table(["key", "value", "meaning"], rows: keys),
        ]
        for group in type.alternatives {
            let names = group.keys.map { "`\($0)`" }.joined(separator: ", ")
            switch (group.isRequired, group.isExclusive) {
            case (true, true): blocks.append(.paragraph("Exactly one of \(names)."))
            case (true, false): blocks.append(.paragraph("At least one of \(names)."))
            default: blocks.append(.paragraph("At most one of \(names)."))
            }
        }
        blocks += type.dependencies.map { .paragraph("`\($0.key)` requires `\($0.required)`.") }
        return ReferenceSection(
            topic: topic(of: type),
            title: type.title.first.map { $0.uppercased() + type.title.dropFirst() } ?? "",
            summary: nil, blocks: blocks)
    }

    /// Returns the topic of a mapping: its name in the schema with hyphens, as `video-encode`.
    static func topic(of type: MappingType) -> String {
        var previous: Character = "-"
        return type.name.reduce(into: "") { text, letter in
            if letter.isUppercase, previous.isLowercase { text += "-" }
            text += letter.lowercased()
            previous = letter
        }
    }

    /// Returns the meaning of a key with its default.
    static func meaning(of key: KeyInfo) -> String {
        var meaning = key.summary
        if let value = key.defaultText { meaning += " Default: \(value)." }
        if key.isRequired { meaning += " **Required.**" }
        return meaning
    }

    /// Returns all values of a type; `describe` abbreviates long lists.
    private static func values(of type: ValueType) -> String {
        if case .word(let words) = type { return words.map { "`\($0)`" }.joined(separator: ", ") }
        return describe(type)
    }

    static func describe(_ type: ValueType) -> String {
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

    /// Returns the description of a choice. A list of the type before it, or of the choice's other types, is "a list of
    /// these".
    private static func describe(_ types: [ValueType]) -> String {
        let values = types.filter { if case .list = $0 { false } else { true } }
        let names = values.map(describe).joined(separator: " or ")
        return types.enumerated().map { index, type in
            guard case .list(let element, _, _) = type else { return describe(type) }
            let single = describe(element)
            return single == names || index > 0 && describe(types[index - 1]) == single
                ? "a list of these" : "a list of \(single)"
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
