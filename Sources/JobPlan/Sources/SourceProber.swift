package import LibAV

/// The planner's access to sources, in this process or in a sandboxed one. Sources are untrusted, and probing runs
/// parsers on them.
package protocol SourceProber: Sendable {
    /// Access to sources, and the root beneath which all files must be.
    var environment: SourceEnvironment { get }
    /// Cached results of dry opens, because many jobs use the same settings.
    var trials: SettingsValidationCache { get }
    /// Performs a request, and returns the corresponding response. Blocks; called concurrently from several threads.
    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse
}

/// The reason why a source can't be probed.
package struct SourceProblem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The reason in one line.
    package var description: String
    /// Whether no file is at the path.
    package var isMissing = false
    package init(_ description: String, isMissing: Bool = false) {
        (self.description, self.isMissing) = (description, isMissing)
    }
}
