/// How a piece of text came to stand where it is read: through an alias, `defaults`, named settings, an include, a
/// variable. Part of a place, so that every message about the place can tell the way.
public final class SourceContext: Sendable {
    /// What brought it there.
    public enum Kind: String, Sendable {
        /// An alias of YAML.
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

    /// What brought it there.
    public let kind: Kind
    /// The way, for people.
    public let message: String
    /// Where that is written, if anywhere.
    public let range: SourceRange?
    /// The way before that.
    public let parent: SourceContext?

    /// A step of the way.
    public init(_ kind: Kind, _ message: String, at range: SourceRange?, after parent: SourceContext? = nil) {
        self.kind = kind
        self.message = message
        self.range = range
        self.parent = parent
    }

    /// Steps that messages list.
    package static let mostNotes = 10

    /// The steps, the one nearest to the text first; at most `mostNotes`.
    var notes: [Diagnostic.Note] {
        var notes: [Diagnostic.Note] = []
        var step: SourceContext? = self
        while let current = step, notes.count < Self.mostNotes {
            notes.append(Diagnostic.Note(current.message, at: current.range.map { $0.with(context: nil) }))
            step = current.parent
        }
        return notes
    }

    /// One of the steps is of that kind.
    public func contains(_ kind: Kind) -> Bool {
        var step: SourceContext? = self
        while let current = step {
            if current.kind == kind { return true }
            step = current.parent
        }
        return false
    }
}
