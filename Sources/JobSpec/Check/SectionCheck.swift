internal import Diagnostics
internal import LibAV
internal import YAMLDocument

/// Checks what no job uses as well: defaults and named settings are looked at even where nothing comes of them.
struct SectionCheck {
    let reader: NodeReader
    let definition: BatchDefinition

    func check(_ sections: SpecSections) {
        if let defaults = sections.defaults { _ = reader.fields(defaults, as: Language.job.partial()) }
        for name in sections.settings.keys.sorted() {
            guard let entry = sections.settings[name] else { continue }
            guard case .mapping(let entries) = entry.value.content else {
                reader.sink.error(
                    .wrongType, "the settings `\(name)` are a mapping, not \(entry.value.kind)",
                    at: entry.value.range)
                continue
            }
            check(entries, of: entry.value)
        }
    }

    /// The codec tells for which kind of track they are; the keys where there is no codec.
    private func check(_ entries: [YAMLNode.Entry], of node: YAMLNode) {
        let kinds = [Language.videoEncode, Language.audioEncode].map { $0.partial("Settings") }
        let codec = entries.first { $0.key == "codec" }?.value.text
        let fitting = kinds.filter { kind in
            entries.allSatisfy { $0.key.hasPrefix("x-") || kind.key($0.key) != nil }
        }
        if let codec, CodecCatalog.codec(codec, of: .audio) != nil {
            _ = reader.fields(node, as: kinds[1])
        } else if let codec, CodecCatalog.codec(codec, of: .video) != nil {
            _ = reader.fields(node, as: kinds[0])
        } else if fitting.isEmpty {
            let strange = entries.filter { entry in
                !entry.key.hasPrefix("x-") && !kinds.contains { $0.has(entry.key) }
            }
            if strange.isEmpty, let sound = entries.first(where: { !kinds[0].has($0.key) }) {
                reader.sink.error(
                    .conflictingKeys,
                    "settings are for video or for audio, and `\(sound.key)` is of the other kind than what stands before it",
                    at: sound.keyRange)
            } else {
                _ = reader.fields(node, as: kinds[0])
            }
        }
    }
}
