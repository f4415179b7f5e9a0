internal import Diagnostics
internal import YAMLDocument

/// The sections of a job file and of what it includes, not yet merged into jobs.
struct SpecSections {
    /// Variables as written; the job file's own win over included ones.
    var variables: [String: YAMLNode.Entry] = [:]
    /// Named settings.
    var settings: [String: YAMLNode.Entry] = [:]
    /// Assets, in the order they were found.
    var assets: [YAMLNode.Entry] = []
    /// What is merged under every job.
    var defaults: YAMLNode?
    /// The absolute folder of each file.
    var folders: [SourceFile: String] = [:]

    /// Puts another file's sections over these: what is nearer to the job file wins.
    mutating func put(over other: SpecSections) {
        variables.merge(other.variables) { _, new in new }
        settings.merge(other.settings) { _, new in new }
        let names = Set(other.assets.map(\.key))
        assets = assets.filter { !names.contains($0.key) } + other.assets
        if let upper = other.defaults {
            defaults = defaults.map { NodeMerge.merge(upper, over: $0, as: Language.job) } ?? upper
        }
        folders.merge(other.folders) { _, new in new }
    }
}
