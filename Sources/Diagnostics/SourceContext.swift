/// A step by which a text becomes part of a job, such as an alias, `defaults`, named settings or a variable, linked
/// to the enclosing steps. A source range contains its innermost step, so that messages about the range can list all
/// steps.
public final class SourceContext: Sendable {
    /// The kind of a step.
    public enum Kind: String, Sendable {
        /// A YAML alias.
        case alias
        /// The `defaults` of a job file, which apply to keys that a job doesn't set.
        case defaults
        /// Named settings.
        case settings
        /// An export preset.
        case preset
        /// The value of a variable or of a matrix key.
        case value
    }

    /// Kind of the step.
    public let kind: Kind
    /// Description of the step for messages.
    public let message: String
    /// Location of the step; nil if it has none.
    public let range: SourceRange?
    /// The enclosing step; nil for the outermost one.
    public let parent: SourceContext?

    /// Creates a step within an enclosing step.
    package init(_ kind: Kind, _ message: String, at range: SourceRange?, after parent: SourceContext? = nil)
    {
        self.kind = kind
        self.message = message
        self.range = range
        self.parent = parent
    }

    /// Maximum number of steps that a message lists.
    package static let maxNotes = 10

    /// Notes that describe the steps, innermost first; at most `maxNotes`.
    var notes: [Diagnostic.Note] {
        var notes: [Diagnostic.Note] = []
        var step: SourceContext? = self
        while let current = step, notes.count < Self.maxNotes {
            notes.append(Diagnostic.Note(current.message, at: current.range.map { $0.with(context: nil) }))
            step = current.parent
        }
        return notes
    }

    /// Returns whether this step or an enclosing one is of a kind.
    public func contains(_ kind: Kind) -> Bool {
        var step: SourceContext? = self
        while let current = step {
            if current.kind == kind { return true }
            step = current.parent
        }
        return false
    }
}
