package import Diagnostics
package import ExactStrings
internal import Glibc
package import JobPlan
package import JobSpec
internal import LibAV
internal import YAMLDocument

/// The decoded job files, with their texts for messages.
package struct JobFileSet: Sendable {
    /// Files that could be decoded.
    package private(set) var files: [JobFile] = []
    /// Paths as given, including those of unreadable files.
    package let paths: [String]
    /// Diagnostics of reading and decoding.
    package private(set) var diagnostics = DiagnosticSink()
    /// Contents of all files that were read, including included files.
    package private(set) var texts = SourceTexts()
    /// The texts and references on which the decoded jobs of a file depend.
    private struct Source {
        var texts: [[UInt8]]
        var references: ExternalReferences
    }
    private var sources: [ExactString: Source] = [:]
    private var options = SpecOptions()
    package let access: SourceAccess

    /// Digest of everything from which a file's jobs were decoded, by file: its text and that of included files,
    /// `--set`, the environment variables that it uses, and the versions of the programs that decode it. A file that
    /// uses `${index}` has no digest: a new match of a pattern changes the index of other instances.
    package var fingerprints: [ExactString: String] {
        sources.compactMapValues { Self.fingerprint($0, options) }
    }

    /// Reads and decodes files. `variables` override their `vars`. `allowsNoJobs`: whether files without jobs, which
    /// other files include, are accepted. `readsEnvironment`: whether trusted job files may use environment variables.
    /// `argument` is the name of `variables` in messages.
    package init(
        files paths: [String], variables: [String: String], access: SourceAccess, allowsNoJobs: Bool = false,
        readsEnvironment: Bool = true, argument: String = "--set"
    ) {
        self.paths = paths
        self.access = access
        options.allowsNetwork = access.sources.allowsNetwork
        options.allowsNoJobs = allowsNoJobs
        options.variables = variables
        options.files = RootedSpecFiles(named: Set(paths.map(\.exact)), access: access)
        options.environment = access.isUntrusted || !readsEnvironment ? nil : Self.environment()
        var known: Set<String> = []
        for path in paths { known.formUnion(load(path, options)) }
        options.checkVariables(known: known, at: .argument(argument), into: &diagnostics)
    }

    /// Parses `name=value` arguments. If a name is repeated, the last value is used.
    /// - Throws: A usage error for an argument without a name.
    package static func variables(_ arguments: [String]) throws(EngineError) -> [String: String] {
        var values: [String: String] = [:]
        for text in arguments {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw EngineError(.usage, "--set requires name=value, such as --set crf=20, not '\(text)'")
            }
            values[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return values
    }

    /// The first stage of the pipeline.
    package var loaded: Pipeline.Loaded { Pipeline.Loaded(files: files, diagnostics: diagnostics) }

    /// Paths and digests of the files that were read, as stored in a saved plan.
    package var specs: [PlanFile.Spec] {
        texts.all.map { text in PlanFile.Spec(path: text.file, digest: ContentDigest.of(text.bytes)) }
    }

    /// Loads a file and returns the names of its variables.
    private mutating func load(_ path: String, _ options: SpecOptions) -> Set<String> {
        let result = JobFileDecoder.decode(contentsOf: path, options: options)
        if let file = result.file {
            files.append(file)
            sources[path.exact] = Source(
                texts: result.texts.all.map(\.bytes), references: result.references)
        }
        texts.add(result.texts)
        diagnostics.add(result.sink)
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
            let value = options.environment?[name]
            hasher.update("\(name)\0\(value == nil ? "-" : "+")\(value ?? "")\0")
        }
        for text in source.texts {
            hasher.update("\(text.count)\n")
            text.withUnsafeBytes { hasher.update($0) }
        }
        return hasher.finish()
    }

    /// Returns the environment variables that are valid UTF-8.
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
