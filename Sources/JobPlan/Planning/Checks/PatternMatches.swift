internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobSpec

/// The files that patterns of a job file match, and the errors of the search.
enum PatternMatches {
    /// Returns the paths that a pattern matches; nil after an error, if there are none or too many.
    fileprivate static func paths(
        of pattern: Located<String>, absolute: String, beneath root: PathRoot,
        into sink: inout DiagnosticSink
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
            PatternMatches.paths(
                of: pattern, absolute: absolute, beneath: root, into: &sink)
        }
    }
}
