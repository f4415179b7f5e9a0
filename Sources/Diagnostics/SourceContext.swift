/// The context in which a text is read: an alias, `defaults`, named settings, an include, a variable. It is part of a
/// source range, so that every message about the range can list the steps.
public final class SourceContext: Sendable {
    /// The kind of a step.
    public enum Kind: String, Sendable {
        /// A YAML alias.
        case alias
        /// `defaults`, merged under a job.
        case defaults
        /// Named settings.
        case settings
        /// An export preset.
        case preset
        /// A variable's or the matrix's value.
        case value
    }

    /// Kind of the step.
    public let kind: Kind
    /// Description of the step for the user.
    public let message: String
    /// Location of the step; nil if it has none.
    public let range: SourceRange?
    /// The enclosing step; nil for the outermost one.
    public let parent: SourceContext?

    /// Creates a step.
    public init(_ kind: Kind, _ message: String, at range: SourceRange?, after parent: SourceContext? = nil) {
        self.kind = kind
        self.message = message
        self.range = range
        self.parent = parent
    }

    /// Maximum number of steps in a message.
    package static let maxNotes = 10

    /// Notes on the steps, the one nearest to the text first; at most `maxNotes`.
    var notes: [Diagnostic.Note] {
        var notes: [Diagnostic.Note] = []
        var step: SourceContext? = self
        while let current = step, notes.count < Self.maxNotes {
            notes.append(Diagnostic.Note(current.message, at: current.range.map { $0.with(context: nil) }))
            step = current.parent
        }
        return notes
    }

    /// Returns whether a step is of that kind.
    public func contains(_ kind: Kind) -> Bool {
        var step: SourceContext? = self
        while let current = step {
            if current.kind == kind { return true }
            step = current.parent
        }
        return false
    }
}
