internal import ArgumentParser
internal import Diagnostics
internal import Glibc
internal import JobPlan

/// In what form results are printed.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case sarif
    case github
}

/// What every command that checks takes.
struct ReportArguments: ParsableArguments {
    @Option(
        help:
            "How results are printed: text; json, sarif or github (annotations) on standard output. Without it text, and annotations as well under GitHub Actions."
    )
    var format: ReportFormat?

    @Flag(help: "Warnings are errors.")
    var warningsAsErrors = false

    /// What is printed is for programs alone.
    var isForPrograms: Bool { format.map { $0 != .text } ?? false }

    /// Prints messages: as text on standard error, everything else on standard output.
    /// `annotates`: under GitHub Actions, in no other form, they become annotations too.
    func report(_ sink: DiagnosticSink, of loader: JobFileLoader, annotates: Bool = true) throws {
        switch format {
        case .text: Terminal.report(loader.renderer.render(sink))
        case .json: Terminal.print(String(decoding: try JSONRenderer.render(sink), as: UTF8.self) + "\n")
        case .sarif:
            Terminal.print(
                String(
                    decoding: try SARIFRenderer.render(sink, version: ProgramVersion.current), as: UTF8.self)
                    + "\n")
        case .github: Terminal.print(Self.annotations(sink))
        case nil:
            Terminal.report(loader.renderer.render(sink))
            if annotates, Self.isUnderGitHubActions { Terminal.print(Self.annotations(sink)) }
        }
    }

    /// The exit status of what was found.
    func status(of sink: DiagnosticSink) -> ExitCode? {
        if let status = ExitCode.forDiagnostics(sink) { return status }
        return warningsAsErrors && sink.hasWarnings ? .specWrong : nil
    }

    /// As annotations; GitHub knows files by where they lie in the repository.
    static func annotations(_ sink: DiagnosticSink) -> String {
        guard let workspace = getenv("GITHUB_WORKSPACE").flatMap({ resolved(String(cString: $0)) }) else {
            return GitHubRenderer.render(sink)
        }
        return GitHubRenderer.render(sink) { file in
            let slash = file.utf8.lastIndex(of: 0x2f)
            let name = slash.map { String(file[file.index(after: $0)...]) } ?? file
            let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
            guard let place = resolved(folder).map({ ($0 == "/" ? "" : $0) + "/" + name }),
                place.hasPrefix(workspace + "/")
            else { return file }
            return String(place.dropFirst(workspace.count + 1))
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    static var isUnderGitHubActions: Bool { getenv("GITHUB_ACTIONS").map { String(cString: $0) } == "true" }
}
