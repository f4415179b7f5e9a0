package import Diagnostics
package import ExactStrings
internal import Glibc
package import JobPlan
package import JobSpec
internal import LibAV
internal import YAMLDocument

/// The job files that were read and decoded, with their texts for messages.
package struct JobFileSet: Sendable {
    /// Files that could be decoded.
    package private(set) var files: [JobFile] = []
    /// Paths as given, including those of unreadable files.
    package let paths: [String]
    /// Diagnostics of loading.
    package private(set) var diagnostics = DiagnosticSink()
    /// Bytes of all files that were read, including includes.
    package private(set) var texts = SourceTexts()
    /// The texts and variables from which a file's jobs were decoded.
    private struct Source {
        var texts: [[UInt8]]
        var references: ExternalReferences
    }
    private var sources: [ExactString: Source] = [:]
    private var options = SpecOptions()
    /// Access to files and networks.
    package let access: SourceAccess

    /// Digests of everything from which a file's jobs were decoded, by file: its own text and those of its
    /// includes, `--set`, the environment variables that it uses, and the versions of the programs that
    /// decode it. A file that uses `${index}` has none: one more match of a pattern changes the other job
    /// instances.
    package var fingerprints: [ExactString: String] {
        sources.compactMapValues { Self.fingerprint($0, options) }
    }

    /// Reads and decodes files. `variables` override their `vars`; `allowsNoJobs` accepts files that are only
    /// included by others.
    package init(
        files paths: [String], variables: [String: String], access: SourceAccess, allowsNoJobs: Bool = false
    ) {
        self.paths = paths
        self.access = access
        options.allowsNetwork = access.sources.allowsNetwork
        options.allowsNoJobs = allowsNoJobs
        options.variables = variables
        options.files = RootedSpecFiles(named: Set(paths.map(\.exact)), access: access)
        options.environment = access.isUntrusted ? nil : Self.environment()
        var known: Set<String> = []
        for path in paths { known.formUnion(load(path, options)) }
        options.checkVariables(known: known, at: .argument("--set"), into: &diagnostics)
    }

    /// Parses `name=value` arguments; the last value of a name applies.
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

    /// First stage of the pipeline.
    package var loaded: Pipeline.Loaded { Pipeline.Loaded(files: files, diagnostics: diagnostics) }

    /// Paths and digests of the files that were read, for a plan on disk.
    package var specs: [PlanFile.Spec] {
        texts.all.map { text in PlanFile.Spec(path: text.file, digest: ContentDigest.of(text.bytes)) }
    }

    /// Loads one file and returns the names of its variables.
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
