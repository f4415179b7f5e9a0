internal import Diagnostics

/// Properties of an asset before its source is opened.
extension AssetProperties {
    /// Creates the properties of an asset of a job. `id` is the asset's id in the job file, or nil for an
    /// inline asset.
    init(of spec: AssetSpec, id: Located<String>?, definition: BatchDefinition) {
        self.init(id: id?.value)
        switch spec.source {
        case .file(let path), .playlist(let path): self.path = definition.displayPath(path)
        case .url(let url): path = String(url.value.prefix { $0 != "?" && $0 != "#" })
        case .glob(let patterns): set(patterns, definition)
        case .pattern: what = "a test signal"
        case .images: what = "an image sequence"
        case .composition(let spec):
            // Each instance uses one match of a clip's pattern.
            guard let patterns = spec.patterns else {
                what = "a composition"
                break
            }
            set(patterns, definition)
        case .composed: what = "a composition"
        case .image(let path, _, _): self.path = definition.displayPath(path)
        case .job: what = "the job's output"
        }
    }

    /// Sets the properties of a source that is one of several files.
    private mutating func set(_ patterns: FilePatterns, _ definition: BatchDefinition) {
        isPattern = true
        let count = patterns.entries.reduce(0) { $0 + $1.expansions.count }
        // The properties of a long list are known once its files are.
        guard count <= Language.maxPatterns else {
            alternatives = ["*/*.*"]
            return
        }
        alternatives = patterns.entries.flatMap { entry in
            entry.expansions.map { definition.displayPath(Located($0, at: entry.written.range)) }
        }
    }
}
