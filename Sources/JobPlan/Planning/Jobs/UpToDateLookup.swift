internal import Dispatch
internal import ExactStrings
internal import FileSystem
internal import JobSpec
internal import Locking
internal import Media
internal import Publishing

/// The lookup of jobs that needn't be planned, because their outputs are up to date.
struct UpToDateLookup {
    private let memory: any PlanMemory
    /// Results that were fetched before planning; an inner nil marks a job that must be planned.
    private var fetched: [InstanceKey: BatchPlan.UpToDateJob?] = [:]
    /// Identities of the files of jobs that are up to date, by path.
    private(set) var identities: [ExactString: FileIdentity] = [:]

    init(_ memory: any PlanMemory) { self.memory = memory }

    /// Looks up in parallel all jobs that read a file. Returns the files of those that must be planned, with
    /// duplicates.
    mutating func fetch(_ files: [JobFile], destinations: inout DestinationTable) -> [SourceRequest] {
        var queries: [(file: Int, query: UpToDateQuery)] = []
        for (index, file) in files.enumerated() {
            for job in file.jobs {
                guard case .file = job.asset.source,
                    let query = query(job, of: file, at: index, after: PlannedJobs(), &destinations)
                else { continue }
                queries.append((index, query))
            }
        }
        // Batches of 64: one lookup takes less time than its dispatch.
        let (memory, requested, stride) = (memory, queries, 64)
        let found = DispatchQueue.concurrentMap((requested.count + stride - 1) / stride) { part in
            requested[part * stride..<min(requested.count, (part + 1) * stride)]
                .map { memory.upToDateOutputs(of: $0.query) }
        }
        var wanted: [SourceRequest] = []
        for ((index, query), outputs) in zip(queries, found.joined()) {
            fetched[InstanceKey(file: index, id: query.job.id.value)] =
                .some(outputs.map { Self.result(query, $0) })
            for file in outputs?.files ?? [] { identities[file.path.exact] = file.identity }
            if outputs == nil, let path = query.source {
                wanted.append(SourceRequest(path: path, timing: query.job.asset.timing))
                wanted += query.subtitles.map { SourceRequest(path: $0, timing: .fast) }
            }
        }
        return wanted
    }

    /// Returns the result of a job that is up to date; nil if it must be planned.
    func result(
        of job: JobSpec, in file: JobFile, at index: Int, after planned: PlannedJobs,
        _ destinations: inout DestinationTable
    ) -> BatchPlan.UpToDateJob? {
        if let known = fetched[InstanceKey(file: index, id: job.id.value)] { return known }
        return query(job, of: file, at: index, after: planned, &destinations).flatMap { query in
            memory.upToDateOutputs(of: query).map { Self.result(query, $0) }
        }
    }

    private static func result(
        _ query: UpToDateQuery, _ found: UpToDateOutputs
    ) -> BatchPlan.UpToDateJob {
        BatchPlan.UpToDateJob(
            id: query.job.id.value, base: query.job.base, file: query.file.path, outputs: found.outputs)
    }

    /// Returns the query for the memory about a job; nil if the job must be planned in any case.
    private func query(
        _ job: JobSpec, of file: JobFile, at index: Int, after planned: PlannedJobs,
        _ destinations: inout DestinationTable
    ) -> UpToDateQuery? {
        // The other files of a group determine the gain.
        guard !job.isTemplate, !job.isUndivided, job.sharedNormalization == nil else { return nil }
        let covers = job.outputs.compactMap(\.media?.metadata.cover).map(file.absolutePath)
        let subtitles = job.subtitleFiles.map { file.absolutePath($0.path) }
        var query = UpToDateQuery(
            file: file, job: job, source: nil, covers: covers, subtitles: subtitles, outputs: [])
        for output in job.outputs {
            var path: DestinationPath?
            if let written = output.destination?.path {
                path = destinations.resolve(file.absolutePath(written))
                if path == nil { return nil }
            }
            query.outputs.append(
                UpToDateQuery.Output(
                    id: output.id?.value, destination: path?.path,
                    hasSeveralFiles: output.hasSeveralFiles))
        }
        switch job.asset.source {
        case .file(let written): query.source = file.absolutePath(written)
        case .pattern: break
        case .job(_, let run, let output):
            guard let needed = planned.upToDateDestination(of: run, output?.value, in: index) else {
                return nil
            }
            query.source = needed
        case .url, .glob, .images, .image, .playlist, .composition, .composed: return nil
        }
        return query
    }
}
