/// The external values that the text of a job file refers to. A change of one of them changes the jobs.
package struct ExternalReferences: Sendable {
    /// Names of the environment variables.
    package private(set) var environment: Set<String> = []
    /// Whether `${index}` is used: the number of a job instance, which depends on the matches of patterns.
    package private(set) var usesIndex = false

    package init() {}

    /// Adds the references of texts that contain `${`.
    mutating func add(_ texts: [String]) {
        for text in texts {
            for name in Substitution.names(in: text) {
                if name == "index" { usesIndex = true }
                if name.hasPrefix("env.") { environment.insert(String(name.dropFirst(4))) }
            }
        }
    }
}
