internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import Locking

/// Arguments of every command that reads job files.
struct SpecArguments: ParsableArguments {
    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String] = []

    @OptionGroup var settings: SpecSettings

    /// Reads and decodes the files. `allowsNoJobs` accepts files that are only included by others.
    func load(allowsNoJobs: Bool = false) throws -> JobFileSet {
        try settings.load(files, allowsNoJobs: allowsNoJobs)
    }
}

/// Options for reading job files.
struct SpecSettings: ParsableArguments {
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp("Gives a variable a value; wins over `vars`.", valueName: "name=value"))
    var variables: [String] = []

    @OptionGroup var access: AccessArguments

    /// Returns the variables of `--set` by name.
    func values() throws -> [String: String] {
        try JobFileSet.variables(variables)
    }

    /// Retains the decoded files until the process ends, because releasing ten thousand jobs takes time without
    /// benefit.
    private static let kept = Guarded<[JobFileSet]>([])

    /// Reads and decodes files. `access` is an access that is already granted.
    func load(
        _ files: [String], access given: SourceAccess? = nil, allowsNoJobs: Bool = false
    ) throws -> JobFileSet {
        guard !files.isEmpty else { throw ValidationError("Missing expected argument '<files> ...'") }
        let granted = try given ?? access.granted(for: files)
        let set = JobFileSet(
            files: files, variables: try values(), access: granted, allowsNoJobs: allowsNoJobs)
        Self.kept.withLock { $0.append(set) }
        return set
    }
}

extension JobFileSet {
    /// Renders messages with excerpts of the files.
    var renderer: TextRenderer { TextRenderer(sources: texts, usesColor: Terminal.usesColor) }
}
