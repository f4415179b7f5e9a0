internal import FileSystem
internal import FoundationEssentials
internal import JobPlan

/// Responses to probes of earlier runs.
extension RunState {
    /// Returns the recorded response to a probe of a file; nil if there is none for the current version of the file, or if
    /// the run is forced. The response is unchecked.
    func response(to request: String, path: String) -> ProbeResponse? {
        guard !isForced, let token = FileIdentity.changeToken(path: path) else { return nil }
        for store in records.all {
            guard let text = store.results.probe(request, path: path, identity: token) else { continue }
            return try? JSONDecoder().decode(ProbeResponse.self, from: Data(text.utf8))
        }
        return nil
    }

    /// Records the response to a probe of a file that had an identity before the probe, unless the file changed meanwhile, or
    /// nothing is written.
    func record(_ response: ProbeResponse, to request: String, path: String, identity: String?) {
        guard !isReading, let identity, FileIdentity.changeToken(path: path) == identity,
            let text = try? JSONEncoder().encode(response)
        else { return }
        for store in records.all {
            store.results.record(
                response: String(decoding: text, as: UTF8.self), to: request, path: path, identity: identity)
        }
    }
}
