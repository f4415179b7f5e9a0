/// A collection of diagnostics without duplicates, sorted when it is read.
package struct DiagnosticSink: Sendable {
    /// The key by which duplicates are detected: a mistake in `defaults` is reported for each job that uses them.
    private struct Identity: Hashable {
        let rule: Rule
        let message: String
        let range: SourceRange
    }

    private var collected: [Diagnostic] = []
    private var indices: [Identity: Int] = [:]
    /// Maximum number of messages that are kept; the others are counted.
    private static let limit = 1000
    /// Number of messages beyond the limit, which are only counted.
    package private(set) var omitted = 0
    /// Number of errors, including omitted ones.
    package private(set) var errorCount = 0
    /// Number of warnings, including omitted ones.
    package private(set) var warningCount = 0
    private var environmentErrors = 0

    package init() {}

    /// Adds a message. A repetition at the same location is only counted.
    package mutating func add(_ diagnostic: Diagnostic) {
        let identity = Identity(
            rule: diagnostic.rule, message: diagnostic.message, range: diagnostic.range)
        if let known = indices[identity] {
            let first = collected[known]
            let isNew = diagnostic.notes != first.notes || diagnostic.jobs != first.jobs
            collected[known].repetitions += isNew ? 1 : 0
            if let jobs = diagnostic.jobs, (first.jobs?.count ?? 0) < Diagnostic.maxJobs {
                collected[known].jobs = (first.jobs ?? []) + jobs.filter { first.jobs?.contains($0) != true }
            }
            return
        }
        switch diagnostic.severity {
        case .error: errorCount += 1
        case .warning: warningCount += 1
        case .note: break
        }
        if diagnostic.isEnvironment, diagnostic.severity == .error { environmentErrors += 1 }
        guard collected.count < Self.limit else {
            omitted += 1
            return
        }
        indices[identity] = collected.count
        collected.append(diagnostic)
    }

    /// Adds all messages of another sink.
    package mutating func add(_ other: DiagnosticSink) {
        for diagnostic in other.collected { add(diagnostic) }
        omitted += other.omitted
        // Messages over the limit are only counted.
        errorCount += max(0, other.errorCount - other.collected.count { $0.severity == .error })
        warningCount += max(0, other.warningCount - other.collected.count { $0.severity == .warning })
        environmentErrors += max(
            0, other.environmentErrors - other.collected.count { $0.isEnvironment && $0.severity == .error })
    }

    package mutating func error(
        _ rule: Rule, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        help: String? = nil
    ) {
        add(Diagnostic(.error, rule, message, at: range, notes: notes, help: help))
    }

    package mutating func warning(
        _ rule: Rule, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        help: String? = nil
    ) {
        add(Diagnostic(.warning, rule, message, at: range, notes: notes, help: help))
    }

    /// All messages, sorted by file and position.
    package var diagnostics: [Diagnostic] {
        collected.enumerated().sorted { ($0.element.range, $0.offset) < ($1.element.range, $1.offset) }
            .map(\.element)
    }

    /// Whether the limit is reached, so that further messages are only counted.
    package var isFull: Bool { collected.count >= Self.limit }

    package var hasErrors: Bool { errorCount > 0 }
    package var hasWarnings: Bool { warningCount > 0 }
    /// Messages of the warnings.
    package var warnings: [String] { collected.filter { $0.severity == .warning }.map(\.message) }
    /// Whether all errors are caused by the environment.
    package var hasOnlyEnvironmentErrors: Bool { hasErrors && environmentErrors == errorCount }
}
