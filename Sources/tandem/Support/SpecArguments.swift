internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import Locking

// Option groups aren't nested: in debug builds ArgumentParser validates each group five times for each enclosing level,
// which added 150 ms to every process that the tests start.

/// Arguments of commands that read job files.
struct SpecArguments: ParsableArguments {
    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String] = []

    /// Throws a usage error if no file is given.
    func requireFiles() throws { try Self.require(files) }

    static func require(_ files: [String]) throws {
        guard files.isEmpty else { return }
        throw ValidationError(
            "no job file given; an argument directly after an option such as --junit is read as that option's value"
        )
    }
}

/// Options for the variables of job files.
struct VariableArguments: ParsableArguments {
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp("Set a variable; overrides `vars`.", valueName: "name=value"))
    var variables: [String] = []

    func values() throws -> [String: String] { try JobFileSet.variables(variables) }

    private static let retained = Guarded<[JobFileSet]>([])

    /// Retains decoded files until the process exits, because releasing ten thousand jobs takes time.
    static func retain(_ set: JobFileSet) { retained.withLock { $0.append(set) } }

    /// Reads and decodes job files. `allowsNoJobs`: whether files without jobs, which other files include, are
    /// accepted.
    func load(
        _ files: [String], _ access: @autoclosure () throws -> SourceAccess, allowsNoJobs: Bool = false
    ) throws -> JobFileSet {
        try SpecArguments.require(files)
        let set = JobFileSet(
            files: files, variables: try values(), access: try access(), allowsNoJobs: allowsNoJobs)
        Self.retain(set)
        return set
    }
}

extension JobFileSet {
    /// Renderer of diagnostics with excerpts of these files.
    var renderer: TextRenderer { TextRenderer(sources: texts, usesColor: Terminal.usesColor) }
}

extension CompletionKind {
    /// Ids of the jobs in the job files on the command line.
    static var jobs: CompletionKind { .custom { words, _, _ in Completions.jobs(in: words) } }
    /// Names of export presets, and files.
    static var presetsAndFiles: CompletionKind {
        .custom { _, _, prefix in Completions.presetsAndFiles(prefix) }
    }
}
