internal import ExactStrings
package import Diagnostics
package import LibAV
package import YAMLDocument

/// Options for decoding job files, set by the command line.
package struct SpecOptions: Sendable {
    /// Variables of `--set name=value`, which override `vars`.
    package var variables: [String: String] = [:]
    /// The environment for `${env.NAME}`; nil if `--untrusted` disables access to it.
    package var environment: [String: String]? = [:]
    /// Whether a file without `jobs`, which is meant to be included, is valid.
    package var allowsNoJobs = false
    /// Whether assets may be URLs.
    package var allowsNetwork = false
    /// The access to included files.
    package var files: any SpecFiles = SystemSpecFiles()
    /// The limits of matrices and job instances.
    package var limits = ExpansionLimits()

    /// Creates options without variables and environment.
    package init(allowsNetwork: Bool = false) { self.allowsNetwork = allowsNetwork }
}

/// Decoder of a YAML document to a `JobFile`, with all validation that requires no media.
package struct JobFileDecoder {
    package struct Result: Sendable {
        /// The job file; nil if it can't be decoded.
        package var file: JobFile?
        /// Diagnostics of the parser, the decoding and the validation.
        package var sink: DiagnosticSink
        /// Texts for excerpts in diagnostics: those of included files, and of the job file if it was read from a path.
        package var texts = SourceTexts()
        /// External values that the file and its includes refer to.
        package var references = ExternalReferences()
        /// Names of the variables that the file and its includes define.
        package var variables: Set<String> = []
    }

    /// Decodes and validates a document. `sink` contains the parser's diagnostics.
    package static func decode(
        _ root: YAMLNode?, path: String, directory: String, options: SpecOptions = SpecOptions(),
        after sink: DiagnosticSink
    ) -> Result {
        Suggestion.withBudget {
            decoded(root, path: path, directory: directory, options: options, after: sink)
        }
    }

    private static func decoded(
        _ root: YAMLNode?, path: String, directory: String, options: SpecOptions, after sink: DiagnosticSink
    ) -> Result {
        let reader = NodeReader()
        reader.sink = sink
        let root = root.map(withoutUnindentedJobs)
        guard let root else {
            if !sink.hasErrors { reader.sink.error(.missingKey, "the file is empty", at: .startOfFile(path)) }
            return Result(sink: reader.sink)
        }
        let isMapping = if case .mapping = root.content { true } else { false }
        let isIncluded = options.allowsNoJobs && isMapping && root[key: "jobs"] == nil
        guard let fields = reader.fields(root, as: isIncluded ? Language.jobless : Language.file) else {
            return Result(sink: reader.sink)
        }
        reader.checkVersion(fields)
        let name = fields["name"].flatMap { reader.text($0.value, "`name`") }
        var includes = IncludeLoader(options, reader: reader)
        let sections = includes.sections(ofRoot: fields, file: path, folder: directory)
        var resolver = VariableResolver(
            sections.variables, overrides: options.variables, environment: options.environment, reader: reader
        )
        let variables = resolver.resolve()
        let jobs = reader.named(fields["jobs"], "a job")
        if fields["jobs"] == nil, !isIncluded {
            reader.sink.error(
                .missingKey, "the key `jobs` is missing; a file without jobs can only be included by others",
                at: .startOfFile(path))
        }
        if let entry = fields["jobs"], case .mapping(let entries) = entry.value.content, entries.isEmpty {
            reader.sink.error(.missingKey, "`jobs` is empty; expected at least one job", at: entry.keyRange)
        }
        // Each job gets its own copy of the defaults, whose locations record how it was inserted.
        if let defaults = sections.defaults, let entry = fields["jobs"],
            ExpansionLimits.surplus(instances: jobs.count, nodes: Int(defaults.size))
                > ExpansionLimits.surplusNodes
        {
            reader.sink.error(
                .fanOut,
                "\(jobs.count) jobs with `defaults` of \(defaults.size) values each are too many; at most \(ExpansionLimits.surplusNodes) values beyond the first \(ExpansionLimits.freeNodes) of each are allowed in total",
                at: entry.keyRange)
            return Result(sink: reader.sink)
        }
        let definition = BatchDefinition(
            path: path, sections: sections, variables: variables, environment: options.environment,
            jobs: jobs,
            limits: options.limits)
        SectionCheck(reader: reader, definition: definition).check(sections)
        let expansion = JobExpander(definition: definition, reader: reader, matches: nil).expansion()
        if let defaults = sections.defaults {
            DefaultsCheck(definition: definition, reader: reader).check(defaults)
        }
        let file = JobFile(
            path: path, name: name?.value ?? stem(path), assets: assets(sections, definition, reader),
            jobs: expansion.jobs, hasTemplates: expansion.hasTemplates, definition: definition)
        if !options.allowsNetwork { refuseURLs(of: file, reader) }
        return Result(
            file: file, sink: reader.sink, texts: includes.texts, references: includes.references,
            variables: Set(sections.variables.keys))
    }

    /// Removes jobs that are not indented below an empty `jobs`: the error for the empty mapping covers them.
    private static func withoutUnindentedJobs(_ root: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = root.content, root[key: "jobs"]?.isNull == true else {
            return root
        }
        let rest = entries.filter { entry in
            guard case .mapping = entry.value.content else { return true }
            return Language.file.has(entry.key) || entry.key.hasPrefix("x-")
                || entry.value[key: "asset"] == nil && entry.value[key: "composition"] == nil
        }
        return YAMLNode(.mapping(rest), at: root.range)
    }

    private static func assets(
        _ sections: SpecSections, _ definition: BatchDefinition, _ reader: NodeReader
    ) -> [(id: Located<String>, asset: AssetSpec)] {
        let decoder = AssetDecoder(reader: reader)
        return sections.assets.compactMap { entry in
            let node = Substitution(scope: definition.scope, reader: reader).apply(to: entry.value)
            guard let asset = decoder.asset(node) else { return nil }
            if case .job(let id, _, _) = asset.source { _ = definition.hasJob(id, reader: reader) }
            return (Located(entry.key, at: entry.keyRange), asset)
        }
    }

    private static func refuseURLs(of file: JobFile, _ reader: NodeReader) {
        for asset in (file.assets.map(\.asset) + file.jobs.map(\.asset)).flatMap(\.parts) {
            guard case .url(let url) = asset.source else { continue }
            reader.sink.error(
                .networkNotAllowed, "the asset is a URL, and network access is not allowed",
                at: url.range, help: "`--allow-network` allows it")
        }
    }

    private static func stem(_ path: String) -> String { (path.pathParts.last ?? path).nameParts.stem }
}

extension JobFile {
    /// Returns the file with a job instance for each match of its patterns, in the order of the matches. `matches` is
    /// called once for the same patterns; it returns nil after an error, and if there is no match. Diagnostics are added
    /// to the sink.
    package func expanded(
        into sink: inout DiagnosticSink,
        matching matches: (FilePatterns, inout DiagnosticSink) -> [FilePatterns.File]?
    ) -> JobFile {
        guard hasTemplates else { return self }
        let reader = NodeReader()
        var found: [SearchKey: [FilePatterns.File]?] = [:]
        var file = self
        var own = DiagnosticSink()
        withoutActuallyEscaping(matches) { matches in
            let expander = JobExpander(
                definition: definition, reader: reader,
                matches: { patterns in
                    let key = SearchKey(patterns, absolutePath: definition.absolutePath)
                    if let known = found[key] { return known }
                    let files = matches(patterns, &own)
                    found[key] = files
                    return files
                })
            file.jobs = Suggestion.withBudget { expander.expansion().jobs }
        }
        file.hasTemplates = false
        sink.add(own)
        sink.add(reader.sink)
        return file
    }

    /// Returns a job with one output for each track of its source, of outputs with a variable of a track in the destination;
    /// nil after an error. `tracks` returns the tracks that a selection includes.
    package func divided(
        _ job: JobSpec, into sink: inout DiagnosticSink,
        tracks: (MediaType, TrackSelection) -> [TrackDivision.Track]
    ) -> JobSpec? {
        guard let instance = job.undivided else { return job }
        let reader = NodeReader()
        let divided = withoutActuallyEscaping(tracks) { tracks in
            instance.decoded(of: definition, reader: reader, tracks: tracks)
        }
        sink.add(reader.sink)
        return divided
    }

    /// The absolute paths and patterns by which equal searches are recognized.
    private struct SearchKey: Hashable {
        let entries: [ExactString]
        let exceptions: [ExactString]

        init(_ patterns: FilePatterns, absolutePath: (Located<String>) -> String) {
            entries = patterns.entries.map { absolutePath($0.written).exact }
            exceptions = patterns.exceptions.map { absolutePath($0.written).exact }
        }
    }
}
