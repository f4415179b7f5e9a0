internal import ExactStrings
internal import FileSystem
internal import FoundationEssentials
internal import Glibc
package import JobPlan
package import JobRun
package import JobSpec
internal import Publishing

/// Paths of the report and event files that a run writes.
package struct ReportDestinations: Sendable {
    /// Path of the JUnit XML file; nil for none.
    package var junit: String?
    /// Paths of reports, which end in `.html` or `.json`.
    package var reports: [String]
    /// Path of the JSON lines file for events; `-` for standard output, nil for none.
    package var events: String?
    /// Whether events are added to those in the file, as the next of several runs.
    package var appendsEvents = false

    package init(junit: String?, reports: [String], events: String? = nil) {
        self.junit = junit
        self.reports = reports
        self.events = events
    }

    /// Whether a report or a JUnit XML file is written.
    package var wantsReport: Bool { junit != nil || !reports.isEmpty }

    /// Whether an HTML report is written, which contains preview images.
    package var wantsPreviews: Bool { reports.contains { $0.hasSuffix(".html") } }

    /// Paths of all files, excluding standard output.
    var paths: [String] { ([events, junit].compactMap { $0 } + reports).filter { $0 != "-" } }

    /// Returns the reason why the files can't be written: they would overwrite an output, a source or a job file.
    /// Returns nil if they can be written.
    package func problem(with plan: BatchPlan, of files: [JobFile]) -> String? {
        Self.problem(writing: paths, with: plan, of: files)
    }

    /// Returns the reason why files at `paths` can't be written; nil if they can be.
    package static func problem(
        writing paths: [String], with plan: BatchPlan, of files: [JobFile]
    ) -> String? {
        if paths.isEmpty { return nil }
        let currentFolder = FileManager.default.currentDirectoryPath
        let destinations = Set(
            (plan.jobs.flatMap(\.outputs).flatMap(\.files)
                + plan.upToDateJobs.flatMap(\.outputs).flatMap(\.files)).compactMap { DestinationPath($0) })
        lazy var inputs = inputs(of: files)
        var seen: Set<DestinationPath> = []
        for path in paths {
            guard let destination = DestinationPath(path.hasPrefix("/") ? path : currentFolder + "/" + path)
            else {
                return "\(path) can't be written: the path is invalid"
            }
            if !seen.insert(destination).inserted { return "\(path) is the destination of two reports" }
            if destinations.contains(destination) { return "\(path) is the destination of a job" }
            guard access(destination.path.parentFolder, W_OK | X_OK) == 0 else {
                return "\(path) can't be written: \(String(cString: strerror(errno)))"
            }
            if let identity = FileIdentity(path: destination.path), inputs.contains(SourceFileKey(identity)) {
                return "\(path) is a job file or a source, which can't be overwritten"
            }
            if let problem = ReportFile.problem(destination.path) { return problem }
        }
        return nil
    }

    /// Returns the keys of job files and of their sources.
    private static func inputs(of files: [JobFile]) -> Set<SourceFileKey> {
        var finder = SourceFinder()
        let paths = files.map(\.path) + finder.files(of: files).map(\.path)
        return Set(paths.compactMap { FileIdentity(path: $0).map(SourceFileKey.init) })
    }

    /// Opens the event file; returns nil if no events are written.
    /// - Throws: An environment error if the file can't be written.
    package func eventWriter() throws(EngineError) -> EventWriter? {
        guard let events else { return nil }
        guard let writer = EventWriter(path: events, appends: appendsEvents) else {
            throw EngineError(.environment, "the events can't be written to \(events)")
        }
        return writer
    }

    /// Writes the JUnit XML and the reports, each atomically. Returns a message for each file that could not be
    /// written.
    package func write(_ report: RunReport, previews: [OutputKey: JobPreview] = [:]) -> [String] {
        var problems: [String] = []
        func put(_ text: @autoclosure () throws -> String, to path: String) {
            do {
                try ReportFile.write(Array(text().utf8), to: path)
            } catch {
                problems.append("error: \(error)")
            }
        }
        if let junit { put(JUnitRenderer.render(report), to: junit) }
        for path in reports {
            if path.hasSuffix(".html") {
                put(
                    HTMLRenderer.render(report, previews: previews, in: RealPath.of(path.parentFolder)),
                    to: path)
            } else {
                put(String(decoding: try report.json(), as: UTF8.self) + "\n", to: path)
            }
        }
        return problems
    }
}
