internal import Diagnostics
internal import YAMLDocument

/// Everything that jobs are made of: the sections of the file and its includes, and the jobs' own nodes.
final class BatchDefinition: Sendable {
    /// A job as the file has it, with the defaults under it.
    struct Base: Sendable {
        let id: Located<String>
        let node: YAMLNode
    }

    let path: String
    let scope: Scope
    let settings: [String: YAMLNode.Entry]
    let assets: [String: YAMLNode.Entry]
    let folders: [SourceFile: String]
    /// The job file's own.
    let ownFolder: String?
    let bases: [Base]
    let positions: [String: Int]
    let settingsBudget = SettingsBudget()
    /// The ids of assets and the names of settings, as messages list them.
    let listedAssets: String
    let listedSettings: String

    init(
        path: String, sections: SpecSections, variables: [String: Scope.Value], environment: [String: String],
        jobs: [YAMLNode.Entry]
    ) {
        self.path = path
        scope = Scope(variables: variables, environment: environment)
        settings = sections.settings
        assets = Dictionary(sections.assets.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        folders = sections.folders
        listedAssets = Self.list(assets.keys)
        listedSettings = Self.list(settings.keys)
        ownFolder = sections.folders[SourceFile(path)]
        bases = jobs.map { entry in
            let id = Located(entry.key, at: entry.keyRange)
            guard let defaults = sections.defaults else { return Base(id: id, node: entry.value) }
            let under = defaults.reached(
                through: .defaults, "`defaults` give it to the job `\(entry.key)`", at: entry.keyRange)
            let own = OutputNodes.withRules(of: under, in: entry.value)
            return Base(id: id, node: NodeMerge.merge(own, over: under, as: Language.job))
        }
        positions = Dictionary(
            bases.enumerated().map { ($0.element.id.value, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Names in order, the first of many.
    private static func list(_ names: some Collection<String>) -> String {
        let most = 50
        let sorted = names.sorted()
        return sorted.prefix(most).joined(separator: ", ") + (sorted.count > most ? ", …" : "")
    }

    /// Relative to the file that it stands in.
    func absolutePath(_ written: Located<String>) -> String {
        if written.value.hasPrefix("/") { return written.value }
        return (folders[written.range.source] ?? ownFolder ?? ".") + "/" + written.value
    }

    /// There is a job of that id; reported where not.
    func hasJob(_ id: Located<String>, reader: NodeReader) -> Bool {
        if positions[id.value] != nil { return true }
        reader.sink.error(
            .undefinedName, "there is no job `\(id.value)`", at: id.range,
            help: Suggestion.help(for: id.value, among: bases.lazy.map(\.id.value)))
        return false
    }
}
