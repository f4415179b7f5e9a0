internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// The division of outputs into one for each track, by `${track.…}` in a destination. The sources of such jobs are opened
/// before any job is planned, because the destinations of all jobs are compared.
struct TrackDivider {
    private let catalog: SourceCatalog
    /// Errors of the divided jobs, such as too many outputs.
    private(set) var diagnostics = DiagnosticSink()
    /// The jobs that can't be divided.
    private(set) var refusals: [BatchPlan.Refusal] = []

    init(_ catalog: SourceCatalog) { self.catalog = catalog }

    /// Returns job files with the outputs of the jobs that meet a condition divided. A job whose source can't be opened
    /// remains as it is; its planner reports the reason.
    mutating func divided(_ files: [JobFile], where isWanted: (JobSpec) -> Bool) -> [JobFile] {
        func isDivided(_ job: JobSpec) -> Bool {
            !job.isTemplate && job.outputs.contains(where: \.isUndivided) && isWanted(job)
        }
        let requests = files.flatMap { file in
            file.jobs.filter(isDivided).compactMap { job -> SourceRequest? in
                guard case .file(let written) = job.asset.source else { return nil }
                return SourceRequest(path: file.absolutePath(written), timing: job.asset.timing)
            }
        }
        catalog.probe(ahead: requests)
        return files.map { file in
            guard file.jobs.contains(where: isDivided) else { return file }
            var divided = file
            divided.jobs = file.jobs.compactMap { isDivided($0) ? self.divided($0, of: file) : $0 }
            return divided
        }
    }

    /// Returns a job with its outputs divided; nil after an error, for which the job is refused.
    private mutating func divided(_ job: JobSpec, of file: JobFile) -> JobSpec? {
        let resolver = InputResolver(
            catalog: catalog, file: file, outputs: ReadOutputs(),
            keepsFullChroma: job.requestsFullChroma)
        var unread = DiagnosticSink()
        guard let source = resolver.input(of: job, into: &unread)?.description else { return job }
        var sink = DiagnosticSink()
        let divided = file.divided(job, into: &sink) { type, selection in
            let all = source.tracks(of: type).map(\.index)
            return source.tracks(of: type, matching: selection).compactMap { track in
                all.firstIndex(of: track.index).map {
                    TrackDivision.Track(index: $0, language: track.language, codec: track.codec)
                }
            }
        }
        guard divided == nil || sink.hasErrors else { return divided }
        let own = sink.named(of: job)
        diagnostics.add(own)
        refusals.append(
            BatchPlan.Refusal(id: job.id.value, file: file.path, diagnostics: own.diagnostics))
        return nil
    }
}
