internal import Diagnostics
internal import ExactStrings
internal import YAMLDocument

/// Loader of the files that a job file includes, recursively.
struct IncludeLoader {
    private let files: any SpecFiles
    private let reader: NodeReader
    private let options: SpecOptions
    private(set) var texts = SourceTexts()
    /// External values that the included files refer to.
    private(set) var references = ExternalReferences()
    private var count = 0
    private static let limit = 100

    init(_ options: SpecOptions, reader: NodeReader) {
        files = options.files
        self.options = options
        self.reader = reader
    }

    /// Returns the sections of the job file merged over those of its includes.
    mutating func sections(ofRoot fields: Fields, file: String, folder: String) -> SpecSections {
        let path = Self.absolute(folder + "/" + (file.pathParts.last ?? ""))
        return sections(of: fields, file: file, folder: folder, trail: [(path, .startOfFile(file))])
    }

    /// Returns a path with the symbolic links of its folder resolved.
    private static func absolute(_ path: String) -> String {
        SystemSpecFiles.folder(of: path) + "/" + (path.pathParts.last ?? "")
    }

    /// Returns the sections of a file merged over those of its includes. `trail` contains the files that lead to this
    /// one, the file itself included, each with the location of its `include`.
    private mutating func sections(
        of fields: Fields, file: String, folder: String, trail: [(path: String, location: SourceRange)]
    ) -> SpecSections {
        var result = SpecSections()
        if let include = fields["include"] {
            let nodes: [YAMLNode]
            if case .sequence(let items) = include.value.content {
                nodes = items
            } else {
                nodes = [include.value]
            }
            let scope = nodes.contains(where: \.hasSubstitution) ? scope(fields) : Scope()
            for written in nodes {
                let node = Substitution(scope: scope, reader: reader).apply(to: written)
                guard !node.isDeferred, let path = reader.text(node, "an included file"),
                    reader.isLocal(path, "an included file")
                else { continue }
                if let sections = load(path, from: folder, trail: trail) { result.overlay(on: sections) }
            }
        }
        result.overlay(on: ownSections(fields, file: file, folder: folder))
        return result
    }

    /// Returns the names that `include` may refer to: the file's own variables, `--set` and the environment.
    private func scope(_ fields: Fields) -> Scope {
        // Errors of variables are reported once all variables are known.
        let quiet = NodeReader()
        var variables: [String: YAMLNode.Entry] = [:]
        for entry in quiet.named(fields["vars"], "a variable") { variables[entry.key] = entry }
        var resolver = VariableResolver(
            variables, overrides: options.variables, environment: options.environment, reader: quiet)
        var scope = Scope(environment: options.environment)
        scope.variables = resolver.resolve()
        return scope
    }

    private mutating func load(
        _ written: Located<String>, from folder: String, trail: [(path: String, location: SourceRange)]
    ) -> SpecSections? {
        let path = written.value.hasPrefix("/") ? written.value : folder + "/" + written.value
        let absolute = Self.absolute(path)
        if let index = trail.firstIndex(where: { $0.path.exact == absolute.exact }) {
            reader.sink.error(
                .includeCycle, "the file includes itself", at: written.range,
                notes: trail[index...].dropFirst().map {
                    Diagnostic.Note("it is included from here", at: $0.location)
                })
            return nil
        }
        count += 1
        guard count <= Self.limit, trail.count <= 20 else {
            reader.sink.error(
                .yamlLimit,
                "the job file includes more than \(Self.limit) files, or has more than 20 levels of includes",
                at: written.range)
            return nil
        }
        let bytes: [UInt8]
        do throws(SpecFileError) {
            bytes = try files.read(path, limit: YAMLLimits().fileSize)
        } catch {
            reader.sink.error(
                .fileUnreadable, "can't read the included file `\(written.value)`: \(error.reason)",
                at: written.range)
            return nil
        }
        // The name is relative to that of the job file, so that the paths in diagnostics resolve.
        let base = written.range.file
        let name =
            written.value.hasPrefix("/")
            ? written.value : (base.lastSlash.map { String(base[...$0]) } ?? "") + written.value
        texts.add(bytes, of: name)
        var sink = DiagnosticSink()
        let document = YAMLParser.document(bytes, file: name, into: &sink)
        reader.sink.add(sink)
        references.add(document?.substituted ?? [])
        guard let root = document?.root else {
            if !sink.hasErrors {
                reader.sink.error(.missingKey, "the included file is empty", at: written.range)
            }
            return nil
        }
        guard let fields = reader.fields(root, as: Language.included) else { return nil }
        reader.checkVersion(fields)
        if let jobs = fields["jobs"] {
            reader.sink.warning(
                .includedJobs, "the jobs of an included file are not run; only its other sections are used",
                at: jobs.keyRange, notes: [Diagnostic.Note("it is included here", at: written.range)])
        }
        return sections(
            of: fields, file: name, folder: SystemSpecFiles.folder(of: path),
            trail: trail + [(absolute, written.range)])
    }

    private func ownSections(_ fields: Fields, file: String, folder: String) -> SpecSections {
        var result = SpecSections()
        result.folders[SourceFile(file)] = folder
        for entry in reader.named(fields["vars"], "a variable") { result.variables[entry.key] = entry }
        for entry in reader.named(fields["settings"], "named settings") { result.settings[entry.key] = entry }
        result.assets = reader.named(fields["assets"], "an asset")
        if let defaults = fields["defaults"] {
            if case .mapping = defaults.value.content {
                result.defaults = defaults.value
            } else {
                reader.sink.error(
                    .wrongType, "`defaults` must be a mapping of job keys, not \(defaults.value.kind)",
                    at: defaults.value.range)
            }
        }
        return result
    }
}
