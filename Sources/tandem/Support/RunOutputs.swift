internal import ExactStrings
internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec
internal import FileSystem
internal import Publishing

/// What a run writes while it goes on.
struct EventArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What happens as it happens, as JSON lines; - is standard output.", valueName: "file"),
        completion: .file())
    var events: String?

    /// What writes them.
    func writer() throws -> EventWriter? {
        guard let events else { return nil }
        guard let writer = EventWriter(path: events) else {
            Terminal.say("error: the events can't be written to \(events)")
            throw ExitCode.environment
        }
        return writer
    }
}

/// What a run writes for other programs, and for reading later.
struct RunOutputs: ParsableArguments {
    @Option(help: ArgumentHelp("The results as JUnit's XML.", valueName: "file"), completion: .file())
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "The results as a page to read (.html), or for programs (.json); may be given several times.",
            valueName: "file"), completion: .file())
    var report: [String] = []

    func validate() throws {
        for path in report where !path.hasSuffix(".html") && !path.hasSuffix(".json") {
            throw ValidationError("--report is a file that ends in .html or .json, not \(path)")
        }
        if junit == "-" { throw ValidationError("--junit is a file: only --events can be -") }
    }

    /// Anything is written that tells of each job.
    var wantsReport: Bool { junit != nil || !report.isEmpty }

    /// A page is written, which shows frames.
    var wantsPreviews: Bool { report.contains { $0.hasSuffix(".html") } }

    /// All files that are written, with one more that may be standard output.
    func paths(with events: String?) -> [String] {
        ([events, junit].compactMap { $0 } + report).filter { $0 != "-" }
    }

    /// What stands against writing where it was asked for: nothing that matters is written over. Before anything is.
    static func problem(writing paths: [String], with plan: BatchPlan, of files: [JobFile]) -> String? {
        if paths.isEmpty { return nil }
        let here = FileManager.default.currentDirectoryPath
        let destinations = Set(
            (plan.jobs.flatMap(\.outputs).flatMap(\.files)
                + plan.settled.flatMap(\.outputs).flatMap(\.files)).compactMap { DestinationPath($0) })
        lazy var inputs = inputs(of: files)
        var seen: Set<DestinationPath> = []
        for path in paths {
            guard let place = DestinationPath(path.hasPrefix("/") ? path : here + "/" + path) else {
                return "\(path) can't be written: it lies in no folder"
            }
            if !seen.insert(place).inserted { return "\(path) is asked for twice" }
            if destinations.contains(place) { return "\(path) is where a job's output goes" }
            let folder = place.path.lastSlash.map { String(place.path[..<$0]) } ?? ""
            guard access(folder.isEmpty ? "/" : folder, W_OK | X_OK) == 0 else {
                return "\(path) can't be written: \(String(cString: strerror(errno)))"
            }
            if let identity = FileIdentity(path: place.path), inputs.contains(SourceFileKey(identity)) {
                return "\(path) is a job file or a source, and neither is written over"
            }
            if let problem = ReportFile.problem(place.path) { return problem }
        }
        return nil
    }

    /// Job files and what they read.
    private static func inputs(of files: [JobFile]) -> Set<SourceFileKey> {
        var finder = SourceFinder()
        let paths = files.map(\.path) + finder.files(of: files).map(\.path)
        return Set(paths.compactMap { FileIdentity(path: $0).map(SourceFileKey.init) })
    }

    /// Writes the rest, each file whole or not at all; true where all went well.
    func write(_ report: RunReport, previews: [JobKey: JobPreview] = [:]) -> Bool {
        var isWell = true
        func put(_ text: @autoclosure () throws -> String, to path: String) {
            do {
                try ReportFile.write(Array(text().utf8), to: path)
            } catch {
                isWell = false
                Terminal.say("error: \(error)")
            }
        }
        if let junit { put(JUnitRenderer.render(report), to: junit) }
        for path in self.report {
            if path.hasSuffix(".html") {
                put(HTMLRenderer.render(report, previews: previews), to: path)
            } else {
                put(String(decoding: try report.json(), as: UTF8.self) + "\n", to: path)
            }
        }
        return isWell
    }

    /// Annotations and a step's summary, under GitHub Actions.
    static func tellGitHub(_ report: RunReport, _ details: DiagnosticSink) {
        guard ReportArguments.isUnderGitHubActions else { return }
        Terminal.print(ReportArguments.annotations(details))
        summarize(report)
    }

    /// A step's summary, under GitHub Actions.
    static func summarize(_ report: RunReport) {
        guard ReportArguments.isUnderGitHubActions else { return }
        guard let path = getenv("GITHUB_STEP_SUMMARY").map({ String(cString: $0) }), !path.isEmpty else {
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            return Terminal.say("warning: the step's summary can't be written")
        }
        Terminal.write(StepSummary.render(report), to: descriptor)
        close(descriptor)
    }
}
