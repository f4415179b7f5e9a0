internal import Diagnostics
internal import YAMLDocument

/// The sections of a job file and of its includes, and the jobs' nodes, from which job instances are created.
final class BatchDefinition: Sendable {
    /// A job of the file, with the defaults merged under it.
    struct JobNode: Sendable {
        let id: Located<String>
        let node: YAMLNode
    }

    let path: String
    let scope: Scope
    let settings: [String: YAMLNode.Entry]
    let assets: [String: YAMLNode.Entry]
    let folders: [SourceFile: String]
    /// Folder of the job file.
    let ownFolder: String?
    let bases: [JobNode]
    let positions: [String: Int]
    let limits: ExpansionLimits
    let settingsBudget = SettingsBudget()
    /// Identifiers in the texts of `settings` that contain variables.
    let settingsIdentifiers: Set<String>
    /// Ids of the assets, for messages.
    let listedAssets: String
    /// Names of the settings, for messages.
    let listedSettings: String

    init(
        path: String, sections: SpecSections, variables: [String: Scope.Value],
        environment: [String: String]?,
        jobs: [YAMLNode.Entry], limits: ExpansionLimits
    ) {
        self.path = path
        self.limits = limits
        scope = Scope(variables: variables, environment: environment)
        settings = sections.settings
        settingsIdentifiers = settings.values.reduce(into: []) {
            Substitution.addIdentifiers(of: $1.value, to: &$0)
        }
        assets = Dictionary(sections.assets.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        folders = sections.folders
        listedAssets = Self.list(assets.keys)
        listedSettings = Self.list(settings.keys)
        ownFolder = sections.folders[SourceFile(path)]
        bases = jobs.map { entry in
            let id = Located(entry.key, at: entry.keyRange)
            guard let defaults = sections.defaults else { return JobNode(id: id, node: entry.value) }
            let under = defaults.addingStep(
                through: .defaults, "added by `defaults` to the job `\(entry.key)`", at: entry.keyRange)
            let own = OutputNodes.withRules(of: under, in: entry.value)
            return JobNode(id: id, node: NodeMerge.merge(own, over: under, as: Language.job))
        }
        positions = Dictionary(
            bases.enumerated().map { ($0.element.id.value, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the first 50 names in alphabetical order, separated by commas.
    private static func list(_ names: some Collection<String>) -> String {
        let maxNames = 50
        let sorted = names.sorted()
        return sorted.prefix(maxNames).joined(separator: ", ") + (sorted.count > maxNames ? ", …" : "")
    }

    /// Resolves a path against the folder of the file that contains it.
    func absolutePath(_ written: Located<String>) -> String {
        if written.value.hasPrefix("/") { return written.value }
        return (folders[written.range.source] ?? ownFolder ?? ".") + "/" + written.value
    }

    /// Returns a path as it is written if it is relative to the job file's folder; otherwise resolves it.
    func displayPath(_ path: Located<String>) -> String {
        folders[path.range.source] == ownFolder ? path.value : absolutePath(path)
    }

    /// Returns the scope of a job instance. `index` is nil while the number of the instance is unknown.
    func scope(ofJob id: String, combination: Matrix.Combination = [], index: Int? = nil) -> Scope {
        var scope = scope
        scope.matrix = combination
        scope.job = id
        scope.index = index
        return scope
    }

    /// Returns whether a job with that id exists, and reports an error if it doesn't.
    func hasJob(_ id: Located<String>, reader: NodeReader) -> Bool {
        if positions[id.value] != nil { return true }
        reader.sink.error(
            .undefinedName, "unknown job `\(id.value)`", at: id.range,
            help: Suggestion.help(for: id.value, among: bases.lazy.map(\.id.value)))
        return false
    }
}
