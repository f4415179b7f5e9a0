internal import Diagnostics

/// Validation of references between the elements of a composition.
extension CompositionDecoder {
    func check(_ spec: CompositionSpec) {
        var followsClip = false
        for (index, item) in spec.sequence.enumerated() {
            if case .join(let join) = item {
                let hasNext = spec.sequence.indices.contains(index + 1)
                var isClip = false
                if hasNext, case .clip = spec.sequence[index + 1] { isClip = true }
                if !followsClip || !isClip {
                    reader.sink.error(
                        .conflictingKeys, "a join must be between two clips", at: join.location)
                }
            }
            if case .clip = item { followsClip = true } else { followsClip = false }
        }
        var names: [String: SourceRange] = [:]
        let ids =
            spec.sequence.compactMap { if case .clip(let clip) = $0 { clip.id } else { nil } }
            + spec.audio.compactMap(\.id)
        for id in ids {
            if let first = names[id.value] {
                reader.sink.error(
                    .duplicateKey, "duplicate id `\(id.value)`", at: id.range,
                    notes: [Diagnostic.Note("the first one is here", at: first)])
            } else {
                names[id.value] = id.range
            }
        }
        let anchors =
            spec.layers.flatMap { [$0.at, $0.until] } + spec.audio.flatMap { [$0.at, $0.until] }
        for anchor in anchors.compactMap(\.self) {
            guard case .item(let name, _) = anchor.value.base, names[name] == nil else { continue }
            reader.sink.error(
                .undefinedName, "unknown clip or audio item `\(name)`", at: anchor.range,
                help: Suggestion.help(for: name, among: names.keys.sorted()))
        }
        for item in spec.audio {
            guard let under = item.duck?.under else { continue }
            guard let other = spec.audio.first(where: { $0.id?.value == under.value }) else {
                checkClip(under, of: spec, among: names.keys.sorted())
                continue
            }
            if other.id?.value == item.id?.value || other.duck != nil {
                reader.sink.error(
                    .conflictingKeys,
                    "an audio item can't be ducked under itself, or under one that has `duck`",
                    at: under.range)
            }
        }
        checkPatterns(spec)
    }

    /// Checks that the clip whose audio another item ducks under has audio.
    private func checkClip(_ id: Located<String>, of spec: CompositionSpec, among names: [String]) {
        for case .clip(let clip) in spec.sequence where clip.id?.value == id.value {
            guard case .none = clip.audio else { return }
            reader.sink.error(
                .conflictingKeys,
                "the clip `\(id.value)` has `audio: none`, so nothing can be ducked under it",
                at: id.range, notes: [Diagnostic.Note("the clip is here", at: clip.location)])
            return
        }
        reader.sink.error(
            .undefinedName, "unknown clip or audio item `\(id.value)`", at: id.range,
            help: Suggestion.help(for: id.value, among: names))
    }

    private func checkPatterns(_ spec: CompositionSpec) {
        var patterns: [SourceRange] = []
        for asset in spec.assets {
            if case .glob(let own) = asset.source, !patterns.contains(own.range) {
                patterns.append(own.range)
            }
        }
        if patterns.count > 1 {
            reader.sink.error(
                .fanOut, "a composition can have only one asset of several files (a pattern or `paths`)",
                at: patterns[1], notes: [Diagnostic.Note("the first one is here", at: patterns[0])])
        }
    }
}
