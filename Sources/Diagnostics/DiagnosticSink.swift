/// Collects messages; sorted and without repetitions when read.
public struct DiagnosticSink: Sendable {
    private var collected: [Diagnostic] = []
    /// More than anybody reads; the rest is counted.
    private static let limit = 1000
    /// Messages left out.
    public private(set) var omitted = 0

    /// An empty sink.
    public init() {}

    /// Adds a message.
    public mutating func add(_ diagnostic: Diagnostic) {
        if collected.count < Self.limit { collected.append(diagnostic) } else { omitted += 1 }
    }

    /// Adds an error.
    public mutating func error(
        _ rule: Rule, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        help: String? = nil
    ) {
        add(Diagnostic(.error, rule, message, at: range, notes: notes, help: help))
    }

    /// Everything, by file and position, each once.
    public var diagnostics: [Diagnostic] {
        var seen: Set<Diagnostic> = []
        return collected.enumerated().sorted { ($0.element.range, $0.offset) < ($1.element.range, $1.offset) }
            .map(\.element).filter { seen.insert($0).inserted }
    }

    /// An error is among them.
    public var hasErrors: Bool { collected.contains { $0.severity == .error } }
    /// A warning is among them.
    public var hasWarnings: Bool { collected.contains { $0.severity == .warning } }
    /// The errors are all the environment's.
    public var hasOnlyEnvironmentErrors: Bool {
        hasErrors && collected.allSatisfy { $0.severity != .error || $0.isEnvironment }
    }
}
