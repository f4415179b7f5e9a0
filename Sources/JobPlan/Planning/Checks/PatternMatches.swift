internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobSpec
internal import Publishing

/// The search for the files of an asset that stands for several, with its diagnostics.
private struct PatternSearch {
    let patterns: FilePatterns
    let absolutePath: (Located<String>) -> String
    let exceptions: FilePatterns.Matcher
    /// Exceptions that omit a file.
    private var usedExceptions: Set<Int> = []
    /// Patterns that match no file, without an obstacle.
    private var unmatched: [FilePatterns.Entry] = []
    /// Absolute paths of the files that exceptions omit.
    private var omitted: Set<ExactString> = []

    init(_ patterns: FilePatterns, absolutePath: @escaping (Located<String>) -> String) {
        self.patterns = patterns
        self.absolutePath = absolutePath
        exceptions = patterns.exceptionMatcher(absolutePath: absolutePath)
    }

    /// Returns the files; nil after an error, if there are none or too many.
    mutating func files(
        beneath root: PathRoot, on disk: any DiskQueries, into sink: inout DiagnosticSink
    ) -> [FilePatterns.File]? {
        var globber = Globber(beneath: root, on: disk)
        var found: [Int: [String]] = [:]
        for (index, entry) in patterns.entries.enumerated() where entry.isPattern {
            let pattern = entry.written
            do throws(Globber.TooMany) {
                let (paths, obstacles) = try globber.paths(pattern.value, from: base(of: pattern))
                // A file that can't be read is an error; the other matches are still planned.
                for obstacle in obstacles { report(obstacle, of: pattern, into: &sink) }
                if paths.isEmpty, obstacles.isEmpty { unmatched.append(entry) }
                found[index] = paths.filter { !isOmitted($0, of: pattern) }
            } catch {
                sink.error(
                    .fanOut, "the pattern `\(pattern.value)` covers too many files and folders",
                    at: pattern.range)
                return nil
            }
        }
        let files = patterns.files(absolutePath: absolutePath) { found[$0] ?? [] }
        reportUnmatched(isError: files.isEmpty, into: &sink)
        return files.isEmpty ? nil : files
    }

    /// Returns the folder from which a pattern is searched. Matches have the same spelling as the pattern.
    private func base(of pattern: Located<String>) -> String {
        if pattern.value.hasPrefix("/") { return "/" }
        let absolute = absolutePath(pattern)
        return String(decoding: absolute.utf8.dropLast(pattern.value.utf8.count), as: UTF8.self)
    }

    /// Returns whether an exception omits a file that a pattern matches.
    private mutating func isOmitted(_ path: String, of pattern: Located<String>) -> Bool {
        guard !exceptions.isEmpty else { return false }
        let absolute = absolutePath(Located(path, at: pattern.range))
        let omitting = exceptions.entries(matching: absolute)
        usedExceptions.formUnion(omitting)
        if !omitting.isEmpty { omitted.insert(absolute.exact) }
        return !omitting.isEmpty
    }

    /// Reports patterns without a match, and exceptions that omit no file. If there are no files at all, that is an error;
    /// otherwise a warning.
    private func reportUnmatched(isError: Bool, into sink: inout DiagnosticSink) {
        for entry in unmatched {
            let pattern = entry.written
            let message = "the pattern `\(pattern.value)` matches no file"
            let notes = [Diagnostic.Note("the pattern is relative to \(base(of: pattern))")]
            let help = pattern.value.contains("[") ? "write `[[]` to match a literal `[`" : nil
            if isError {
                sink.error(.noMatch, message, at: pattern.range, notes: notes, help: help)
            } else {
                sink.warning(.noMatch, message, at: pattern.range, notes: notes, help: help)
            }
        }
        if isError, !omitted.isEmpty {
            sink.error(
                .noMatch,
                "`except` omits \(omitted.count == 1 ? "the only file" : "all \(omitted.count) files")",
                at: patterns.range,
                notes: patterns.exceptions.indices.filter(usedExceptions.contains).map {
                    Diagnostic.Note(
                        "`\(patterns.exceptions[$0].written.value)` is here",
                        at: patterns.exceptions[$0].written.range)
                })
        }
        for (index, entry) in patterns.exceptions.enumerated()
        where !usedExceptions.contains(index) && !isError {
            sink.warning(
                .noMatch, "the exception `\(entry.written.value)` omits no file", at: entry.written.range,
                notes: [Diagnostic.Note("the exception is relative to \(base(of: entry.written))")])
        }
    }

    private func report(
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
    func expanded(
        into sink: inout DiagnosticSink, beneath root: PathRoot, on disk: any DiskQueries = SystemDisk()
    ) -> JobFile {
        expanded(into: &sink) { patterns, sink in
            var search = PatternSearch(patterns, absolutePath: absolutePath)
            return search.files(beneath: root, on: disk, into: &sink)
        }
    }
}
