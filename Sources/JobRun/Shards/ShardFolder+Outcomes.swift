internal import Dispatch
internal import Glibc
package import JobPlan
internal import Locking

extension ShardFolder {
    /// Returns the outcome of each part, and the outcome of the whole plan: for each output the best result that the plan
    /// and the files confirm (`RunReport.Job.mismatch`). An output without such a result is `not-run`, or has the outcome
    /// of its failed attempt.
    ///
    /// A result counts only for the part whose digest it contains, so that results of another plan or of a modified
    /// part are ignored.
    package func outcomes() throws(Problem) -> (parts: [PartOutcome], report: RunReport) {
        let digests = try digests()
        let indices = Dictionary(zip(digests, digests.indices), uniquingKeysWith: { first, _ in first })
        // In the order of their runs, and so are the claims of a job.
        let reports = reports().filter { $0.part.map { indices[$0] != nil } ?? false }
            .sorted { $0.begun < $1.begun }
        let begun = reports.first?.begun ?? 0
        var claims = [PartClaims](repeating: PartClaims(), count: digests.count)
        for report in reports {
            guard let index = report.part.flatMap({ indices[$0] }) else { continue }
            claims[index].add(report, delay: report.begun - begun)
        }
        // A plan may have a million jobs: only the parts that are being read are in memory.
        let (results, files) = (claims, try shard(0, of: digests).files)
        let outcomes = try DispatchQueue.concurrentMap(throwing: digests.count) {
            (index) throws(Problem) in results[index].outcome(of: try shard(index, of: digests), in: self)
        }
        let ended = reports.map { $0.begun + $0.seconds }.max() ?? begun
        let jobs = outcomes.flatMap { $0.others + $0.jobs }
        let report = RunReport(
            jobs: jobs, files: files, begun: begun, seconds: ended - begun,
            status: jobs.allSatisfy(\.isDone) ? .succeeded : .failed)
        return (outcomes, report)
    }

    private func path(of part: ChunkPart) -> String { chunks + "/" + part.name }

    /// Returns whether the file of a part's chunks exists.
    func exists(_ part: ChunkPart) -> Bool { access(path(of: part), F_OK) == 0 }

    /// Removes files of chunks that are no longer read.
    package func remove(_ parts: [ChunkPart]) { for part in parts { unlink(path(of: part)) } }

    /// Removes the files of chunks whose jobs are done, which parts may have written later than the jobs have read them.
    package func removeUnreadChunks(of outcomes: [PartOutcome]) {
        let open = outcomes.reduce(into: Set()) { $0.formUnion($1.openJobs) }
        remove(outcomes.filter(\.hasChunks).compactMap(\.chunks).filter { !open.contains($0.key) })
    }
}
