internal import Diagnostics
internal import JobSpec

/// The reasons of planning decisions: ledger entries, notes, and diagnostics at their source locations.
struct Reasons {
    private(set) var ledger: [LedgerEntry] = []
    private(set) var notes: [String] = []
    var diagnostics = DiagnosticSink()

    /// Whether an error prevents the output.
    var hasErrors: Bool { diagnostics.hasErrors }

    mutating func note(_ text: String) { notes.append(text) }

    mutating func account(
        for item: LedgerItem, of track: Int?, _ outcome: LedgerEntry.Outcome, _ reason: String
    ) {
        ledger.append(LedgerEntry(track: track, item: item, outcome: outcome, reason: reason))
    }

    mutating func error(
        _ rule: Rule, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        help: String? = nil
    ) {
        diagnostics.error(rule, message, at: range, notes: notes, help: help)
    }

    /// The reasons of decisions on a subtitle file, which all of them name.
    func concerning(_ file: SubtitleFilePlan) -> Reasons {
        var reasons = Reasons()
        reasons.notes = notes.map { "\(file.name): \($0)" }
        reasons.ledger = ledger.map {
            var entry = $0
            entry.file = file.path
            return entry
        }
        for var diagnostic in diagnostics.diagnostics {
            diagnostic.message = "\(file.name): \(diagnostic.message)"
            reasons.diagnostics.add(diagnostic)
        }
        return reasons
    }

    mutating func add(_ other: Reasons) {
        ledger += other.ledger
        notes += other.notes
        diagnostics.add(other.diagnostics)
    }

    /// Adds a decision's reasons to these and returns its value.
    mutating func take<Value>(_ decision: Decision<Value>) -> Value? {
        add(decision.reasons)
        return decision.value
    }
}

/// The result of a planner, with its reasons. The plan's ledger and notes are collected only from these reasons, so
/// they can't contradict the decisions.
struct Decision<Value> {
    /// The result; nil if the reasons contain an error.
    let value: Value?
    let reasons: Reasons

    init(_ value: Value?, _ reasons: Reasons = Reasons()) {
        self.value = value
        self.reasons = reasons
    }
}
