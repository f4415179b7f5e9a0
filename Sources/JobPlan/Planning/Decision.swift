internal import Diagnostics
internal import JobSpec

/// What there is to say of decisions: entries of the ledger, notes for people, messages at their lines.
struct Reasons {
    private(set) var ledger: [LedgerEntry] = []
    private(set) var notes: [String] = []
    var diagnostics = DiagnosticSink()

    /// Something is wrong that leaves no output.
    var hasErrors: Bool { diagnostics.hasErrors }

    mutating func note(_ text: String) { notes.append(text) }

    mutating func account(
        for item: String, of track: Int?, _ outcome: LedgerEntry.Outcome, _ reason: String
    ) {
        ledger.append(LedgerEntry(track: track, item: item, outcome: outcome, reason: reason))
    }

    mutating func error(
        _ rule: Rule, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        help: String? = nil
    ) {
        diagnostics.error(rule, message, at: range, notes: notes, help: help)
    }

    mutating func add(_ other: Reasons) {
        ledger += other.ledger
        notes += other.notes
        diagnostics.add(other.diagnostics)
    }

    /// What was decided; its reasons are among these from now on.
    mutating func take<Value>(_ decision: Decision<Value>) -> Value? {
        add(decision.reasons)
        return decision.value
    }
}

/// What a planner decided, with its reasons. The plan's ledger and notes are collected from these and derived from nothing
/// else, so that none can say something other than what was decided.
struct Decision<Value> {
    /// Nil where there is nothing that could be done; the reasons have an error then.
    let value: Value?
    let reasons: Reasons

    init(_ value: Value?, _ reasons: Reasons = Reasons()) {
        self.value = value
        self.reasons = reasons
    }
}
