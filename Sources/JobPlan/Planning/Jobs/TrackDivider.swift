internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// The division of outputs into one for each track, by `${track.…}` in a destination. The sources of such jobs are opened
/// before any job is planned, because the destinations of all jobs are compared.
struct TrackDivider {
    private let catalog: SourceCatalog
    /// Warnings and errors about the divided jobs.
    private(set) var diagnostics = DiagnosticSink()
    /// The jobs that can't be divided.
    private(set) var refusals: [BatchPlan.Refusal] = []
    /// The result of each job that was divided; nil after an error.
    private var known: [InstanceKey: JobSpec?] = [:]

    init(_ catalog: SourceCatalog) { self.catalog = catalog }

    /// Returns job files with the outputs of all jobs divided, without jobs that are refused. A job whose source can't be opened
    /// remains as it is; its planner reports the reason.
    mutating func divided(_ files: [JobFile]) -> [JobFile] {
        divided(files, where: { _ in true }) { divider, divided, job, file, sink in
            let own = sink.named(of: job)
            divider.diagnostics.add(own)
            if divided == nil {
                divider.refusals.append(
                    BatchPlan.Refusal(
                        id: job.id.value, file: file.path, diagnostics: own.diagnostics))
            }
            return divided
        }
    }

    /// Returns job files with the outputs of the jobs that meet a condition divided, without diagnostics.
    mutating func divided(_ files: [JobFile], where isWanted: (JobSpec) -> Bool) -> [JobFile] {
        divided(files, where: isWanted) { _, divided, job, _, _ in divided ?? job }
    }

    private mutating func divided(
        _ files: [JobFile], where isWanted: (JobSpec) -> Bool,
        finish: (inout Self, JobSpec?, JobSpec, JobFile, DiagnosticSink) -> JobSpec?
    ) -> [JobFile] {
        func isDivided(_ job: JobSpec) -> Bool {
            !job.isTemplate && job.isUndivided && isWanted(job)
        }
        let requests = files.flatMap { file in
            file.jobs.filter(isDivided).compactMap { job -> SourceRequest? in
                guard case .file(let written) = job.asset.source else { return nil }
                return SourceRequest(path: file.absolutePath(written), timing: job.asset.timing)
            }
        }
        if !requests.isEmpty { catalog.probe(ahead: requests) }
        return files.enumerated().map { index, file in
            guard file.jobs.contains(where: isDivided) else { return file }
            var changed = file
            changed.jobs = file.jobs.compactMap { job in
                guard isDivided(job) else { return job }
                let key = InstanceKey(file: index, id: job.id.value)
                if let known = known[key] { return known ?? job }
                var sink = DiagnosticSink()
                let divided = divided(job, of: file, into: &sink)
                known[key] = .some(divided)
                return finish(&self, divided, job, file, sink)
            }
            return changed
        }
    }

    /// Returns a job with its outputs divided; nil after an error.
    private func divided(
        _ job: JobSpec, of file: JobFile, into sink: inout DiagnosticSink
    ) -> JobSpec? {
        let resolver = InputResolver(
            catalog: catalog, file: file, outputs: ReadOutputs(),
            keepsFullChroma: job.requestsFullChroma)
        var unread = DiagnosticSink()
        guard let source = resolver.input(of: job, into: &unread)?.description else { return job }
        return file.divided(job, into: &sink) { type, selection in
            let all = source.tracks(of: type).map(\.index)
            return source.tracks(of: type, matching: selection).compactMap { track in
                all.firstIndex(of: track.index).map {
                    TrackDivision.Track(index: $0, language: track.language, codec: track.codec)
                }
            }
        }
    }
}
