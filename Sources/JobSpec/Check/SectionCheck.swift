internal import Diagnostics
internal import LibAV
internal import YAMLDocument

/// Validation of `defaults` and of named `settings`, including settings that no job uses.
struct SectionCheck {
    let reader: NodeReader
    let definition: BatchDefinition

    func check(_ sections: SpecSections) {
        if let defaults = sections.defaults { _ = reader.fields(defaults, as: Language.job.partial()) }
        // Without settings, the nodes of all jobs needn't be visited.
        if sections.settings.isEmpty { return }
        let used = usedNames(sections)
        for name in sections.settings.keys.sorted() {
            guard let entry = sections.settings[name] else { continue }
            guard case .mapping(let entries) = entry.value.content else {
                reader.sink.error(
                    .wrongType, "the settings `\(name)` must be a mapping, not \(entry.value.kind)",
                    at: entry.value.range)
                continue
            }
            check(entries, of: entry.value)
            if !used.contains(name) { checkWhole(entries, of: entry) }
        }
    }

    /// Returns the names of settings that jobs or `defaults` may use; these are validated with the jobs. Returns all
    /// names if a reference contains a substitution.
    private func usedNames(_ sections: SpecSections) -> Set<String> {
        var used: Set<String> = []
        var pending = definition.bases.map(\.node)
        if let defaults = sections.defaults { pending.append(defaults) }
        while let node = pending.popLast() {
            switch node.content {
            case .scalar: break
            case .sequence(let items): pending += items
            case .mapping(let entries):
                for entry in entries {
                    pending.append(entry.value)
                    guard entry.key == "use" || entry.key == "encode", let name = entry.value.text else {
                        continue
                    }
                    if entry.value.hasSubstitution { return Set(sections.settings.keys) }
                    if used.insert(name).inserted, let settings = sections.settings[name] {
                        pending.append(settings.value)
                    }
                }
            }
        }
        return used
    }

    /// Validates unused settings that have or inherit a codec, as if a job used them.
    private func checkWhole(_ entries: [YAMLNode.Entry], of entry: YAMLNode.Entry) {
        let codec = entries.first { $0.key == "codec" }?.value
        let isAudio = codec?.text.map { CodecCatalog.codec($0, of: .audio) != nil } ?? false
        let kind = isAudio ? Language.audioEncode : Language.videoEncode
        guard codec != nil || entries.contains(where: { $0.key == "use" }),
            entries.allSatisfy({ $0.key.hasPrefix("x-") || kind.key($0.key) != nil })
        else { return }
        let silentReader = NodeReader()
        let resolver = SettingsResolver(reader: silentReader, definition: definition, scope: definition.scope)
        let node = Substitution(scope: definition.scope, reader: NodeReader()).apply(to: entry.value)
        if let whole = resolver.resolve(node, as: kind), whole[key: "codec"] != nil {
            let decoder = EncodeDecoder(reader: silentReader, definition: definition)
            if isAudio { _ = decoder.audio(whole) } else { _ = decoder.video(whole) }
        }
        guard silentReader.sink.hasErrors || silentReader.sink.hasWarnings, !reader.sink.isFull else {
            return
        }
        let known = Set(reader.sink.diagnostics.map(\.range))
        for diagnostic in silentReader.sink.diagnostics where !known.contains(diagnostic.range) {
            reader.sink.add(diagnostic)
        }
    }

    /// Validates the keys of settings as keys of a video or audio `encode`. The codec determines the media type;
    /// without a known codec, the keys do.
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
            let unknownEntries = entries.filter { entry in
                !entry.key.hasPrefix("x-") && !kinds.contains { $0.has(entry.key) }
            }
            if unknownEntries.isEmpty, let audioEntry = entries.first(where: { !kinds[0].has($0.key) }) {
                reader.sink.error(
                    .conflictingKeys,
                    "settings can't mix keys of video and audio; `\(audioEntry.key)` is not of the same kind as the keys before it",
                    at: audioEntry.keyRange)
            } else {
                _ = reader.fields(node, as: kinds[0])
            }
        }
    }
}
