internal import Diagnostics
internal import JobSpec

extension WorkFindings {
    /// Returns the failure if an expectation isn't met; nil if all are met. `kept` returns a clause for the
    /// message that states whether the output at an index was kept.
    func expectationFailure(keptNote kept: (Int) -> String?) -> JobFailure? {
        let failed = outputs.indices.filter { index in
            outputs[index].expectations.contains { !$0.holds }
        }
        let expectations = outputs.flatMap(\.expectations)
        guard let firstFailed = failed.first, let first = expectations.first(where: { !$0.holds }) else {
            return nil
        }
        let otherFailures = expectations.count { !$0.holds } - 1
        var keptNotes: [String: String] = [:]
        var sentences: [String] = []
        for index in failed {
            guard let sentence = kept(index) else { continue }
            keptNotes[outputs[index].expectations.first?.output ?? ""] = sentence
            if !sentences.contains(sentence) { sentences.append(sentence) }
        }
        var failure = JobFailure(
            first.message + (otherFailures > 0 ? " (and \(otherFailures) more)" : "") + sentences.joined(),
            at: first.expectation.location, rule: .expectationFailed)
        failure.keptNotes = keptNotes
        failure.expectations = expectations
        failure.preview = outputs[firstFailed].preview
        return failure
    }
}
