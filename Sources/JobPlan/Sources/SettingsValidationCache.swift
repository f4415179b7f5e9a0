package import Diagnostics
package import JobSpec
internal import Locking
internal import Media

/// The cached results of dry opens, so that each is performed once.
package final class SettingsValidationCache: Sendable {
    private let known = Guarded<[SettingsValidation: SettingsValidation.Outcome]>([:])
    /// Maximum number of cached results. Further results aren't cached.
    private static let capacity = 4096

    package init() {}

    subscript(validation: SettingsValidation) -> SettingsValidation.Outcome? {
        get { known.withLock { $0[validation] } }
        set { known.withLock { if $0.count < Self.capacity { $0[validation] = newValue } } }
    }
}

extension SourceProber {
    /// Returns the result of a dry open, from the cache or the prober.
    func verdict(on validation: SettingsValidation) -> SettingsValidation.Outcome {
        let validation = validation.cacheKey
        let trials = trials
        if let verdict = trials[validation] { return verdict }
        let verdict: SettingsValidation.Outcome
        do throws(SourceProblem) {
            let reply = try respond(to: ProbeRequest(path: nil, subject: .trial(validation)))
            guard case .verdict(let found) = reply else {
                throw SourceProblem("the reply belongs to another request")
            }
            verdict = found
        } catch {
            verdict = .problem("\(error)")
        }
        trials[validation] = verdict
        return verdict
    }

    /// Returns the reason why settings are invalid; nil if they are valid.
    func problem(with validation: SettingsValidation) -> String? {
        switch verdict(on: validation) {
        case .problem(let text): text
        case .ignored(let other):
            "the encoder ignores `\(other.setting.rawValue)` and produces \(other.actual)"
        case .valid, .outputs: nil
        }
    }

    /// Validates the settings of some files by dry opens, each performed once, and returns errors at their locations.
    package func validateSettings(_ files: [JobFile]) -> DiagnosticSink {
        var sink = DiagnosticSink()
        for check in files.flatMap(\.settingsChecks) {
            if let first = check.precondition, problem(with: first) != nil { continue }
            guard let problem = problem(with: check.validation) else { continue }
            sink.add(check.diagnostic(problem))
        }
        return sink
    }
}
