package import Diagnostics
internal import FileSystem
internal import Glibc
package import JobRun

/// Annotations and step summaries for GitHub Actions.
package enum GitHubActions {
    /// Whether this process runs in a GitHub Actions workflow.
    package static var isActive: Bool { variable("GITHUB_ACTIONS") == "true" }

    /// Renders diagnostics as annotations. Paths are relative to the repository.
    package static func annotations(_ sink: DiagnosticSink) -> String {
        guard let workspace = variable("GITHUB_WORKSPACE").flatMap(RealPath.of) else {
            return GitHubRenderer.render(sink)
        }
        return GitHubRenderer.render(sink) { file in
            let slash = file.utf8.lastIndex(of: 0x2f)
            let name = slash.map { String(file[file.index(after: $0)...]) } ?? file
            let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
            guard let absolute = RealPath.of(folder).map({ ($0 == "/" ? "" : $0) + "/" + name }),
                absolute.hasPrefix(workspace + "/")
            else { return file }
            return String(absolute.dropFirst(workspace.count + 1))
        }
    }

    /// Appends a report to the step summary. Returns false if it can't be written; true outside of a workflow.
    package static func summarize(_ report: RunReport) -> Bool {
        guard isActive, let path = variable("GITHUB_STEP_SUMMARY"), !path.isEmpty else { return true }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return StreamWriting.write(StepSummary.render(report), to: descriptor) == nil
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
