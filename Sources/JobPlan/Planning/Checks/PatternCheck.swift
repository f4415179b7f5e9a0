internal import Diagnostics
internal import ExactStrings
internal import JobSpec

/// The check of a call's patterns. A pattern that matches nothing causes its job to be refused; one that matches outputs
/// of its job causes a warning.
enum PatternCheck {
    /// Refuses a job as a whole, by its name in the file, if its pattern matches nothing or its instances can't be
    /// expanded. `names` are the selected jobs; all if it is empty.
    static func refusals(
        _ unmatched: DiagnosticSink, of templates: [JobFile], only names: [String]
    ) -> [BatchPlan.Refusal] {
        var found: [(key: JobKey, diagnostics: [Diagnostic])] = []
        var positions: [JobKey: Int] = [:]
        for diagnostic in unmatched.diagnostics where diagnostic.severity == .error {
            for key in owners(of: diagnostic, in: templates) {
                if let position = positions[key] {
                    found[position].diagnostics.append(diagnostic)
                } else {
                    positions[key] = found.count
                    found.append((key, [diagnostic]))
                }
            }
        }
        let isNamed = { (id: String) in
            names.isEmpty || names.contains { $0 == id || InstanceName($0).base == id }
        }
        return found.filter { isNamed($0.key.id) }.map { key, diagnostics in
            BatchPlan.Refusal(id: key.id, file: key.file, diagnostics: diagnostics)
        }
    }

    /// Returns the jobs that a diagnostic about a pattern concerns: those that read the pattern, or the one that
    /// contains it.
    private static func owners(of diagnostic: Diagnostic, in templates: [JobFile]) -> [JobKey] {
        let location = diagnostic.range
        var inside: (job: JobKey, start: SourceRange)?
        for file in templates {
            let readers = file.jobs.filter {
                $0.asset.patterns?.contains(location) == true
            }
            if !readers.isEmpty { return readers.map { JobKey(file: file.path, id: $0.base) } }
            for job in file.jobs where job.id.range.source == location.source && job.id.range <= location {
                if inside.map({ $0.start < job.id.range }) ?? true {
                    inside = (JobKey(file: file.path, id: job.base), job.id.range)
                }
            }
        }
        if let inside { return [inside.job] }
        return [JobKey(file: location.file, id: "pattern[\(location.line):\(location.column)]")]
    }

    /// Warns about patterns that match the outputs of their own jobs: the next run would read those as sources. At
    /// most 64 job instances of a pattern are compared.
    static func warn(_ templates: [JobFile], expanded: [JobFile], into sink: inout DiagnosticSink) {
        for (template, file) in zip(templates, expanded) {
            var searches: [ExactString: (Search, left: Int)] = [:]
            for job in template.jobs {
                if let patterns = job.asset.patterns {
                    searches[job.base.exact] = (Search(patterns, of: template), 64)
                }
            }
            guard !searches.isEmpty else { continue }
            for job in file.jobs {
                guard let (search, left) = searches[job.base.exact], left > 0 else { continue }
                searches[job.base.exact]?.left = left - 1
                let own = job.outputs.compactMap(\.destination?.path).lazy.compactMap { path in
                    search.pattern(matching: file.absolutePath(path)).map { (path: path, pattern: $0) }
                }.first
                guard let (own, pattern) = own else { continue }
                searches[job.base.exact]?.left = 0
                sink.warning(
                    .patternTakesOutputs,
                    "the pattern `\(pattern.value)` also matches outputs of this job: the next run would read \(file.absolutePath(own)) as a source",
                    at: pattern.range,
                    notes: [Diagnostic.Note("the destination is here", at: own.range)],
                    help:
                        "write the outputs to a separate folder, or use names that the pattern doesn't match")
            }
        }
    }

    /// The patterns of an asset, for comparison with paths.
    private struct Search {
        private let patterns: FilePatterns
        private let matcher: FilePatterns.Matcher
        private let exceptions: FilePatterns.Matcher

        init(_ patterns: FilePatterns, of file: JobFile) {
            self.patterns = patterns
            matcher = patterns.patternMatcher(absolutePath: file.absolutePath)
            exceptions = patterns.exceptionMatcher(absolutePath: file.absolutePath)
        }

        /// Returns the first pattern that matches an absolute path; nil if there is none, or if the path is excepted.
        func pattern(matching path: String) -> Located<String>? {
            guard let entry = matcher.entries(matching: path).first,
                exceptions.entries(matching: path).isEmpty
            else { return nil }
            return patterns.entries[entry].written
        }
    }
}
