internal import Diagnostics
internal import YAMLDocument

/// The sections of a job file and of its includes, before they are merged into jobs.
struct SpecSections {
    /// Variables before substitution; those of the job file override included ones.
    var variables: [String: YAMLNode.Entry] = [:]
    var settings: [String: YAMLNode.Entry] = [:]
    /// Assets, in order of definition.
    var assets: [YAMLNode.Entry] = []
    /// Keys that are merged under every job.
    var defaults: YAMLNode?
    /// The absolute folder of each file.
    var folders: [SourceFile: String] = [:]

    /// Merges the sections of another file over these; `other` takes precedence.
    mutating func overlay(on other: SpecSections) {
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
