internal import Diagnostics
internal import ExactStrings
internal import Glibc
internal import JobSpec
internal import LibAV
internal import FileSystem

extension BatchPlanner {
    /// Returns the jobs that a diagnostic about a pattern concerns: those that read the pattern, or the one that
    /// contains it.
    static func owners(of diagnostic: Diagnostic, in templates: [JobFile]) -> [JobKey] {
        let location = diagnostic.range
        var inside: (job: JobKey, start: SourceRange)?
        for file in templates {
            let readers = file.jobs.filter {
                $0.asset.pattern?.range == location
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
    static func ownOutputs(of templates: [JobFile], expanded: [JobFile], into sink: inout DiagnosticSink) {
        for (template, file) in zip(templates, expanded) {
            var patterns: [ExactString: (pattern: Located<String>, left: Int)] = [:]
            for job in template.jobs {
                if let pattern = job.asset.pattern { patterns[job.base.exact] = (pattern, 64) }
            }
            guard !patterns.isEmpty else { continue }
            for job in file.jobs {
                guard let (pattern, left) = patterns[job.base.exact], left > 0 else { continue }
                patterns[job.base.exact]?.left = left - 1
                let own = job.outputs.compactMap(\.destination?.path).first {
                    GlobPattern.matches(
                        path: parts(file.absolutePath($0)), parts(file.absolutePath(pattern)))
                }
                guard let own else { continue }
                patterns[job.base.exact]?.left = 0
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

    private static func parts(_ path: String) -> ArraySlice<String> {
        path.pathParts.filter { $0 != "." }[...]
    }

    /// Returns the paths that a pattern matches; nil after an error, if there are none or too many.
    static func matches(
        _ pattern: Located<String>, absolute: String, beneath root: PathRoot, into sink: inout DiagnosticSink
    ) -> [String]? {
        // Matches have the same spelling as the pattern, so the search starts at the pattern's base.
        let base =
            pattern.value.hasPrefix("/")
            ? "/" : String(decoding: absolute.utf8.dropLast(pattern.value.utf8.count), as: UTF8.self)
        do throws(Globber.TooMany) {
            let (paths, obstacles) = try Globber.paths(pattern.value, from: base, beneath: root)
            // A file that can't be read is an error; the other matches are still planned.
            for obstacle in obstacles { report(obstacle, of: pattern, into: &sink) }
            if paths.isEmpty, obstacles.isEmpty {
                sink.error(
                    .noMatch, "the pattern `\(pattern.value)` matches no file", at: pattern.range,
                    notes: [Diagnostic.Note("the pattern is relative to \(base)")],
                    help: pattern.value.contains("[") ? "write `[[]` to match a literal `[`" : nil)
            }
            return paths.isEmpty ? nil : paths
        } catch {
            sink.error(
                .fanOut,
                "the pattern `\(pattern.value)` covers too many files and folders",
                at: pattern.range)
            return nil
        }
    }

    private static func report(
        _ obstacle: Globber.Obstacle, of pattern: Located<String>, into sink: inout DiagnosticSink
    ) {
        switch obstacle {
        case .unreadable(let folder, let number):
            sink.error(
                .sourceUnreadable,
                "the folder \(folder), which the pattern `\(pattern.value)` covers, can't be read: \(String(cString: strerror(number)))",
                at: pattern.range)
        case .noFile(let path):
            sink.error(
                .sourceUnreadable,
                "the pattern `\(pattern.value)` matches \(path), which is a dangling link, a pipe, a socket or a device",
                at: pattern.range)
        case .noText(let path):
            sink.error(
                .sourceUnreadable,
                "the pattern `\(pattern.value)` matches a file name that is not UTF-8: \(path)",
                at: pattern.range, help: "rename the file")
        }
    }
}

extension JobFile {
    /// Returns the job file with its patterns replaced by the files that they match beneath a root.
    func expanded(into sink: inout DiagnosticSink, beneath root: PathRoot) -> JobFile {
        expanded(into: &sink) { pattern, absolute, sink in
            BatchPlanner.matches(pattern, absolute: absolute, beneath: root, into: &sink)
        }
    }
}
