internal import Diagnostics
internal import ExactStrings

/// The expansion of an instance whose asset stands for several files: one instance for each file.
struct PatternExpansion {
    /// Closure that returns the files of patterns; nil after an error, and if there are none. The closure is nil while no
    /// file may be opened; jobs with patterns then remain templates.
    typealias Matches = (FilePatterns) -> [FilePatterns.File]?

    private let definition: BatchDefinition
    private let reader: NodeReader
    private let matches: Matches?

    init(definition: BatchDefinition, reader: NodeReader, matches: Matches?) {
        (self.definition, self.reader, self.matches) = (definition, reader, matches)
    }

    /// The files of an asset that stands for several.
    struct FileList {
        /// Nil after an error, and if there are none.
        let files: [FilePatterns.File]?
        let commonFolder: String
    }

    /// Returns one instance for each file of the instance's asset; nil after an error if they, together with `count`
    /// others, exceed the limits. `known` contains the files of the same asset once they are determined.
    func instances(
        of instance: JobInstance, besides count: Int, _ known: inout FileList?
    ) -> [JobInstance]? {
        var composed: CompositionSpec?
        let patterns: FilePatterns
        switch instance.asset.source {
        case .glob(let written): patterns = written
        case .composition(let spec):
            guard let written = spec.patterns else { return [instance] }
            (composed, patterns) = (spec, written)
        default: return [instance]
        }
        if known == nil {
            let listed = patterns.listed(absolutePath: definition.absolutePath)
            if listed == nil, matches == nil {
                var template = instance
                template.isTemplate = true
                return [template]
            }
            known = FileList(files: listed ?? matches?(patterns), commonFolder: patterns.commonFolder)
        }
        guard let folder = known?.commonFolder, let files = known?.files else { return [] }
        guard definition.allowsInstances(count + files.count, ofJob: instance.base, reader: reader),
            definition.allowsNodes(ofInstances: count + files.count, ofJob: instance.base, reader: reader)
        else { return nil }
        return files.map { file in
            var copy = instance
            let located = Located(file.path, at: patterns.entries[file.entry].written.range)
            copy.asset.source =
                composed.map { .composition($0.with(located, for: patterns)) } ?? .file(located)
            copy.properties.path = definition.displayPath(located)
            copy.properties.isPattern = false
            copy.properties.alternatives = []
            copy.pattern = patterns.range
            // The name must distinguish the instance from all others of the job, because ids must be unique.
            let name =
                file.path.hasExactPrefix(folder)
                ? String(decoding: file.path.utf8.dropFirst(folder.utf8.count), as: UTF8.self) : file.path
            copy.label.insert(name, at: 0)
            return copy
        }
    }
}
