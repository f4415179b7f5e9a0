internal import Diagnostics
internal import JobRun
internal import Locking

/// An output of a series of runs, which prints each warning once, and an error that repeats itself once. It remembers a limited
/// number.
final class SeriesPrinter: RunOutput {
    private let output: any RunOutput
    private let warnings = Guarded<Set<Diagnostic>>([])
    private let repeated = Guarded<String?>(nil)
    private static let limit = 10_000

    init(_ output: any RunOutput) { self.output = output }

    /// Prints warnings again, since they concern other job files.
    func forget() { warnings.withLock { $0 = [] } }

    /// Prints a message, unless it is the same as the last one.
    func printRepeated(_ line: String) {
        let isNew = repeated.withLock { last in
            defer { last = line }
            return last != line
        }
        if isNew { output.printLine(line) }
    }

    /// Ends the repetition of a message, which is printed again if it recurs.
    func endRepetition() { repeated.withLock { $0 = nil } }

    var hasSingleResult: Bool { output.hasSingleResult }
    func filesLoaded(_ set: JobFileSet) { output.filesLoaded(set) }

    func report(_ diagnostics: DiagnosticSink, of set: JobFileSet, annotates: Bool) throws {
        var others = DiagnosticSink()
        warnings.withLock { warnings in
            if warnings.count > Self.limit { warnings = [] }
            for diagnostic in diagnostics.diagnostics
            where diagnostic.severity == .error || warnings.insert(diagnostic).inserted {
                others.add(diagnostic)
            }
        }
        try output.report(others, of: set, annotates: annotates)
    }

    func printLine(_ line: String) { output.printLine(line) }
    func ended(_ report: RunReport, _ diagnostics: DiagnosticSink) { output.ended(report, diagnostics) }
}
