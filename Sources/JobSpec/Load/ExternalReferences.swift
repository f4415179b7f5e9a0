/// What the text of a job file takes from outside of it: whatever of that changes, changes the jobs.
package struct ExternalReferences: Sendable {
    /// The variables of the environment that are named.
    package private(set) var environment: Set<String> = []
    /// `${index}` is used: the number of a job instance among the others of its job, which depends on what patterns match.
    package private(set) var usesIndex = false

    /// None.
    package init() {}

    /// Adds those of texts with `${`.
    mutating func add(_ texts: [String]) {
        for text in texts {
            for name in Substitution.names(in: text) {
                if name == "index" { usesIndex = true }
                if name.hasPrefix("env.") { environment.insert(String(name.dropFirst(4))) }
            }
        }
    }
}
