internal import ArgumentParser
internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import YAMLDocument
internal import FileSystem

/// What every command that reads job files takes.
struct SpecArguments: ParsableArguments {
    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String] = []

    @OptionGroup var settings: SpecSettings

    /// Reads and checks the files.
    /// `allowsNoJobs`: files that are there to be included are taken, too.
    func load(allowsNoJobs: Bool = false) throws -> JobFileLoader {
        try settings.load(files, allowsNoJobs: allowsNoJobs)
    }
}

/// How job files are read.
struct SpecSettings: ParsableArguments {
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp("Gives a variable a value; wins over `vars`.", valueName: "name=value"))
    var variables: [String] = []

    @OptionGroup var access: AccessArguments

    /// The variables by their names.
    func values() throws -> [String: String] {
        var values: [String: String] = [:]
        for text in variables {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw ValidationError("--set wants name=value, not '\(text)'")
            }
            values[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return values
    }
}

/// The file system's files beneath the folder of `--root`, and the job files that the user named.
private struct RootedSpecFiles: SpecFiles {
    let named: Set<ExactString>
    let access: CommandAccess

    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        // A file that the user named is read wherever it lies, unless a stranger may have made a link of it.
        let root = access.sources.root
        guard root.path != nil, access.isUntrusted || !named.contains(path.exact) else {
            return try SystemSpecFiles().read(path, limit: limit)
        }
        let absolute = SystemSpecFiles.folder(of: path) + "/" + (path.pathParts.last ?? "")
        let real = realpath(absolute, nil)
        defer { free(real) }
        guard root.holds(real.map { String(cString: $0) } ?? absolute) else {
            throw SpecFileError("it lies outside \(root.path ?? ""), where `--root` keeps everything")
        }
        return try SystemSpecFiles().read(path, limit: limit)
    }
}

/// Reads job files and keeps their texts for messages.
struct JobFileLoader {
    private(set) var files: [JobFile] = []
    /// The job files as they were named, those that can't be read too.
    let paths: [String]
    private(set) var sink = DiagnosticSink()
    private(set) var texts = SourceTexts()
    /// What a file's jobs were decoded from.
    private struct Source {
        var texts: [[UInt8]]
        var references: ExternalReferences
    }
    private var sources: [ExactString: Source] = [:]
    private var options = SpecOptions()
    /// What the command may reach.
    let access: CommandAccess

    /// What each file says, as one digest of everything that its jobs were decoded from: its own text and those of its
    /// includes, `--set`, the environment as far as it is used, and the programs that read them. A file whose jobs go by
    /// their places (`${index}`) has none: one more match of a pattern changes what the others say.
    var fingerprints: [ExactString: String] { sources.compactMapValues { Self.fingerprint($0, options) } }

    init(
        files paths: [String], variables: [String: String], access: CommandAccess, allowsNoJobs: Bool = false
    ) {
        self.paths = paths
        self.access = access
        options.allowsNetwork = access.sources.allowsNetwork
        options.allowsNoJobs = allowsNoJobs
        options.variables = variables
        options.files = RootedSpecFiles(named: Set(paths.map(\.exact)), access: access)
        options.environment = access.isUntrusted ? [:] : Self.environment()
        var known: Set<String> = []
        for path in paths { known.formUnion(load(path, options)) }
        options.checkVariables(known: known, at: .argument("--set"), into: &sink)
    }

    /// The files that were read, for a plan on disk.
    var specs: [PlanFile.Spec] {
        texts.all.map { text in PlanFile.Spec(path: text.file, digest: ContentDigest.of(text.bytes)) }
    }

    /// Renders messages with excerpts of the files.
    var renderer: TextRenderer { TextRenderer(sources: texts, usesColor: Terminal.usesColor) }

    /// The names of the variables that the file has.
    private mutating func load(_ path: String, _ options: SpecOptions) -> Set<String> {
        let result = JobFileDecoder.decode(contentsOf: path, options: options)
        if let file = result.file {
            files.append(file)
            sources[path.exact] = Source(
                texts: result.texts.all.map(\.bytes), references: result.references)
        }
        texts.add(result.texts)
        sink.add(result.sink)
        return result.variables
    }

    private static func fingerprint(_ source: Source, _ options: SpecOptions) -> String? {
        if source.references.usesIndex { return nil }
        var hasher = SHA256Hasher()
        for program in PlanDigest.programs { hasher.update("\(program.key)\0\(program.value)\n") }
        for library in EncoderLibraries.loaded { hasher.update("\(library)\n") }
        for (name, value) in options.variables.sorted(by: { $0.key < $1.key }) {
            hasher.update("\(name)\0\(value)\0")
        }
        for name in source.references.environment.sorted() {
            let value = options.environment[name]
            hasher.update("\(name)\0\(value == nil ? "-" : "+")\(value ?? "")\0")
        }
        for text in source.texts {
            hasher.update("\(text.count)\n")
            text.withUnsafeBytes { hasher.update($0) }
        }
        return hasher.finish()
    }

    /// The environment, without what is no text.
    private static func environment() -> [String: String] {
        var values: [String: String] = [:]
        var entry = environ
        while let bytes = entry.pointee {
            if let text = String(validatingCString: bytes), let equals = text.firstIndex(of: "=") {
                values[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return values
    }
}

extension SpecSettings {
    /// What was read stays until the process ends: taking ten thousand jobs apart again serves nobody.
    private static let kept = Guarded<[JobFileLoader]>([])

    /// Reads and checks files. `access`: what was granted already.
    func load(
        _ files: [String], access given: CommandAccess? = nil, allowsNoJobs: Bool = false
    ) throws -> JobFileLoader {
        guard !files.isEmpty else { throw ValidationError("Missing expected argument '<files> ...'") }
        let granted = try given ?? access.granted(for: files)
        let loader = JobFileLoader(
            files: files, variables: try values(), access: granted, allowsNoJobs: allowsNoJobs)
        Self.kept.withLock { $0.append(loader) }
        return loader
    }
}
