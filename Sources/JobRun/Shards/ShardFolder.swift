internal import Diagnostics
internal import ExactStrings
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
package import FileSystem

/// A folder that several machines share. It contains a plan split into parts (shards), and the results of each part.
///
/// Files are written once and never modified: results have unique names, and a file is either complete or absent. A
/// part may be executed twice, even concurrently, so no lock or database is needed.
package struct ShardFolder: Sendable {
    /// Path of the folder.
    package let path: String
    /// Root beneath which the folder's files and the outputs in its results must be.
    private let root: PathRoot

    /// Creates a reference to a folder without accessing it.
    package init(path: String, beneath root: PathRoot) {
        self.path = path
        self.root = root
    }

    /// The reason why the folder or a file in it can't be used.
    package struct Problem: Error, Sendable, CustomStringConvertible {
        /// Reason for the user, in one line.
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// Maximum number of parts of a plan.
    package static let maxParts = 10_000

    private func name(ofShard index: Int) -> String { "\(path)/shard-\(index).json" }
    private var manifest: String { path + "/plan.json" }

    /// The manifest of the parts, written last: their number, and the digest of each file.
    private struct Manifest: Codable {
        var kind = "tandem-parts"
        var version = 1
        /// SHA-256 digests in hexadecimal, by part.
        var parts: [String]
        /// Number of parts that encode chunks, which are the first; nil if there are none.
        var chunkParts: Int?
        /// Number of parts after these that read the chunks.
        var joiningParts: Int?
        /// Number of jobs, with those that no part executes.
        var jobs: Int

        var isValid: Bool {
            kind == "tandem-parts" && version == 1 && jobs >= 0
                && (1...ShardFolder.maxParts).contains(parts.count)
                && stages.isValid(partCount: parts.count)
        }

        var stages: PartStages { PartStages(chunkParts: chunkParts ?? 0, joiningParts: joiningParts ?? 0) }
    }
    private var results: String { path + "/results" }

    /// Absolute path of the folder with the files of chunks.
    package var chunks: String { StateFolder(path: path).absolute + "/chunks" }

    /// Writes the parts and the manifest. Creates the folder; throws if it isn't empty.
    package func write(_ plan: PlanFile, _ layout: ShardLayout) throws(Problem) {
        if let found = try? FileManager.default.contentsOfDirectory(atPath: path), !found.isEmpty {
            throw Problem("\(path) is not empty; parts of a plan are written to a new folder")
        }
        do {
            for folder in [results, progress] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            var digests: [String] = []
            let jobsOfParts = layout.joining + layout.others
            let count = layout.chunks.count + jobsOfParts.count
            let chunks = Dictionary(grouping: layout.chunks, by: \.key)
            // A plan may have a million jobs, of which few have chunks.
            let distributed = Dictionary(
                (chunks.isEmpty ? [] : plan.plan.jobs).filter { chunks[$0.key] != nil }.map { ($0.key, $0) },
                uniquingKeysWith: { first, _ in first })
            for index in 0..<count {
                var part = plan
                part.shard = PlanFile.Shard(index: index, count: count)
                let planned: [JobPlan]
                if index < layout.chunks.count {
                    let chunks = layout.chunks[index]
                    planned = distributed[chunks.key].map { [$0] } ?? []
                    part.shard?.chunks = chunks
                } else {
                    planned = jobsOfParts[index - layout.chunks.count].map { plan.plan.jobs[$0] }
                    let read = planned.flatMap { chunks[$0.key] ?? [] }
                    part.shard?.readChunks = read.isEmpty ? nil : read
                }
                // Jobs that can't be planned, and skipped jobs, belong to no part. The first part contains them for
                // `collect`.
                part.plan = BatchPlan(
                    jobs: planned,
                    skips: index == 0 ? plan.plan.skips : Self.skips(of: plan.plan, neededBy: planned),
                    refusals: index == 0 ? plan.plan.refusals : [])
                let data = try part.data(isLine: true)
                try data.write(to: URL(filePath: name(ofShard: index)), options: .withoutOverwriting)
                digests.append(SHA256Hasher.digest(of: Array(data)))
            }
            var manifest = Manifest(
                parts: digests,
                jobs: plan.plan.jobs.count + plan.plan.skips.count + plan.plan.refusals.count)
            if !layout.chunks.isEmpty {
                (manifest.chunkParts, manifest.joiningParts) = (layout.chunks.count, layout.joining.count)
            }
            try JSONFormat.data(of: manifest)
                .write(to: URL(filePath: self.manifest), options: .withoutOverwriting)
        } catch {
            throw Problem("\(path) can't be written: \(error)")
        }
    }

    /// Removes the plan, whose parts were not started, so that the folder can be used for another one.
    package func removePlan() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name == "plan.json" || name.hasPrefix("shard-") && name.hasSuffix(".json") {
            unlink(path + "/" + name)
        }
        // Only empty folders are removed.
        rmdir(results)
        rmdir(progress)
        rmdir(path)
    }

    /// Returns the skipped jobs that some jobs need.
    private static func skips(of plan: BatchPlan, neededBy jobs: [JobPlan]) -> [BatchPlan.Skip] {
        let needed = Set(jobs.flatMap(\.neededKeys))
        return plan.skips.filter { needed.contains($0.writtenKey) }
    }

    private func digests() throws(Problem) -> [String] { try readManifest().parts }

    private func readManifest() throws(Problem) -> Manifest {
        guard let data = contents(of: manifest) else {
            throw Problem("\(path) is not a plan in parts: \(manifest) can't be read")
        }
        guard let list = try? JSONFormat.value(Manifest.self, of: data), list.isValid else {
            throw Problem("\(path) is not a plan in parts: \(manifest) doesn't list any")
        }
        return list
    }

    /// The parts of a plan.
    package struct Summary: Sendable {
        /// Number of parts.
        package let partCount: Int
        package let stages: PartStages
        /// Number of jobs, with those that no part executes.
        package let jobCount: Int
    }

    /// Returns the numbers of parts and jobs.
    package func summary() throws(Problem) -> Summary {
        let manifest = try readManifest()
        return Summary(
            partCount: manifest.parts.count, stages: manifest.stages, jobCount: manifest.jobs)
    }

    // MARK: Progress

    private var progress: String { path + "/progress" }

    /// Writes the progress of a part. Without effect if the folder can't be written.
    package func write(_ progress: PartProgress, ofShard index: Int) {
        try? JSONFormat.data(of: progress, isLine: true)
            .write(to: URL(filePath: "\(self.progress)/\(index).json"), options: .atomic)
    }

    /// Returns the parts that have written their progress.
    package func partsWithProgress() -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: progress)) ?? []
        return names.compactMap { $0.hasSuffix(".json") ? Int($0.dropLast(5)) : nil }.sorted()
    }

    /// Reads the progress of a part; nil if it isn't valid.
    package func progress(ofShard index: Int) -> PartProgress? {
        guard let data = contents(of: "\(progress)/\(index).json", limit: 16 << 20),
            let found = try? JSONFormat.value(PartProgress.self, of: data), found.isValid
        else { return nil }
        return found
    }

    /// Reads one part. Throws if it was changed after planning.
    package func shard(_ index: Int) throws(Problem) -> PlanFile { try shard(index, of: try digests()) }

    /// Returns the digest of a part. Throws if the manifest, which may have changed since the part was read, doesn't
    /// list it.
    private func digest(ofShard index: Int, of digests: [String]) throws(Problem) -> String {
        guard digests.indices.contains(index) else {
            throw Problem("\(path) has no part \(index): \(manifest) lists \(digests.count)")
        }
        return digests[index]
    }

    private func shard(_ index: Int, of digests: [String]) throws(Problem) -> PlanFile {
        let digest = try digest(ofShard: index, of: digests)
        guard let data = contents(of: name(ofShard: index)) else {
            throw Problem("\(path) has no part \(index): \(name(ofShard: index)) can't be read")
        }
        guard SHA256Hasher.digest(of: Array(data)) == digest else {
            throw Problem(
                "\(name(ofShard: index)) was changed after it was planned")
        }
        guard let file = try? PlanFile.read(data),
            file.shard?.index == index, file.shard?.count == digests.count
        else {
            throw Problem("\(name(ofShard: index)) is not part \(index) of a plan")
        }
        return file
    }

    /// Reads a regular file beneath the root; nil if it is elsewhere or larger than the limit.
    private func contents(of path: String, limit: Int = 1 << 30) -> Data? {
        guard let file = RealPath.of(path), root.contains(file) else { return nil }
        return (try? SystemSpecFiles().read(file, limit: limit)).map { Data($0) }
    }

    /// The preview of an output, stored in a file next to the results of its part.
    private struct StoredPreview: Codable {
        var file: String
        var id: String
        /// `TemporaryFile.fingerprint` of the published output.
        var output: String
        var preview: JobPreview
    }

    private static let previewsSuffix = ".previews"

    /// Writes the results of a part to a file with a unique name.
    package func write(
        _ report: RunReport, previews: [OutputKey: JobPreview], ofShard index: Int
    ) throws(Problem) {
        let machine = HostName.current.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        let word = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let name = "\(results)/\(index)-\(machine)-\(getpid())-\(word).json"
        var report = report
        report.part = try digest(ofShard: index, of: try digests())
        let stored = report.jobs.compactMap { job in
            job.output.flatMap { output in
                previews[job.key].map {
                    StoredPreview(file: job.file, id: job.id, output: output, preview: $0)
                }
            }
        }
        do {
            try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
            if !stored.isEmpty {
                try JSONEncoder().encode(stored).write(
                    to: URL(filePath: name + Self.previewsSuffix), options: .atomic)
            }
            try report.json(isLine: true).write(to: URL(filePath: name), options: .atomic)
        } catch {
            throw Problem("the results can't be written to \(results): \(error)")
        }
    }

    /// Reads all results. Unreadable or invalid ones are ignored.
    package func reports() -> [RunReport] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        return names.sorted().filter { $0.hasSuffix(".json") }.compactMap { name in
            guard let data = contents(of: results + "/" + name) else { return nil }
            let report = try? JSONFormat.value(RunReport.self, of: data)
            guard let report, (0...1e12).contains(report.begun), (0...1e9).contains(report.seconds) else {
                return nil
            }
            return report.jobs.allSatisfy(\.isValid) ? report : nil
        }
    }

    /// Returns the stored previews of unchanged outputs, at most `limit`.
    package func previews(of report: RunReport, limit: Int) -> [OutputKey: JobPreview] {
        let outputs = Dictionary(
            report.jobs.filter(\.isDone).compactMap { job in
                job.output.map { (job.key, $0) }
            }, uniquingKeysWith: { first, _ in first })
        var found: [OutputKey: JobPreview] = [:]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        for name in names.sorted() where name.hasSuffix(Self.previewsSuffix) && found.count < limit {
            guard let data = contents(of: results + "/" + name),
                let all = try? JSONDecoder().decode([StoredPreview].self, from: data)
            else { continue }
            for one in all {
                let key = OutputKey(file: one.file, id: one.id)
                guard found.count < limit, outputs[key] == one.output else { continue }
                found[key] = one.preview.sizeLimited
            }
        }
        return found
    }

    private struct PartResults {
        /// Entries of all results of the part by file and id, in the order of the runs.
        var claims: [ClaimKey: [RunReport.Job]] = [:]
    }

    private struct ClaimKey: Hashable {
        var file: ExactString
        var id: ExactString

        init(_ file: String, _ id: String) { (self.file, self.id) = (file.exact, id.exact) }
    }

    /// The outcome of a part.
    package struct PartOutcome: Sendable {
        /// Entries of the planned outputs, in the plan's order; empty for a part that encodes chunks.
        package var jobs: [RunReport.Job]
        /// The planned jobs with an output that isn't done.
        package var openJobs: Set<JobKey>
        /// The chunks that the part encodes; nil for other parts.
        package var chunks: ChunkPart?
        /// Whether the file of the chunks exists.
        package var hasChunks = false
        /// The reason why the latest attempt to encode the chunks failed; nil if it didn't.
        package var chunkFailure: String?
        /// Entries of jobs that no part contains, because they can't be planned or are skipped; only in the first part.
        package var others: [RunReport.Job]
    }

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
        var results = [PartResults](repeating: PartResults(), count: digests.count)
        for report in reports {
            guard let index = report.part.flatMap({ indices[$0] }) else { continue }
            for var job in report.jobs {
                // The times of jobs are relative to the start of their run.
                job.begun = job.begun.map { $0 + (report.begun - begun) }
                results[index].claims[ClaimKey(job.file, job.id), default: []].append(job)
            }
        }
        // Only one part is in memory: a plan may have a million jobs.
        var outcomes: [PartOutcome] = []
        var files: [String] = []
        for (index, found) in results.enumerated() {
            let part = try shard(index, of: digests)
            if index == 0 { files = part.files }
            let chunks = part.shard?.chunks
            let planned = chunks == nil ? part.plan.jobs : []
            let entriesOfJobs = planned.map { self.entries(of: $0, found.claims) }
            let open = zip(planned, entriesOfJobs).filter { $1.contains { !$0.isDone } }.map(\.0.key)
            outcomes.append(
                PartOutcome(
                    jobs: entriesOfJobs.flatMap(\.self), openJobs: Set(open),
                    chunks: chunks, hasChunks: chunks.map(exists) ?? false,
                    chunkFailure: chunks == nil ? nil : Self.failure(in: found),
                    others: part.plan.refusals.map { RunReport.Job(refused: $0) }
                        + (index == 0 ? part.plan.skips.map { RunReport.Job(skipped: $0) } : [])))
        }
        let ended = reports.map { $0.begun + $0.seconds }.max() ?? begun
        let jobs = outcomes.flatMap { $0.others + $0.jobs }
        let report = RunReport(
            jobs: jobs, files: files, begun: begun, seconds: ended - begun,
            status: jobs.allSatisfy(\.isDone) ? .succeeded : .failed)
        return (outcomes, report)
    }

    /// Returns the reason of a failure of the latest run of a part with one job; nil if it didn't fail.
    private static func failure(in results: PartResults) -> String? {
        let latest = results.claims.values.compactMap(\.last).last
        return latest.flatMap { $0.outcome == .failed ? $0.reason ?? "" : nil }
    }

    private func path(of part: ChunkPart) -> String { chunks + "/" + part.name }

    private func exists(_ part: ChunkPart) -> Bool { access(path(of: part), F_OK) == 0 }

    /// Removes files of chunks that are no longer read.
    package func remove(_ parts: [ChunkPart]) { for part in parts { unlink(path(of: part)) } }

    /// Removes the files of chunks whose jobs are done, which parts may have written later than the jobs have read them.
    package func removeUnreadChunks(of outcomes: [PartOutcome]) {
        let open = outcomes.reduce(into: Set()) { $0.formUnion($1.openJobs) }
        remove(outcomes.filter(\.hasChunks).compactMap(\.chunks).filter { !open.contains($0.key) })
    }

    /// Returns the entries of a job's outputs.
    private func entries(of plan: JobPlan, _ claims: [ClaimKey: [RunReport.Job]]) -> [RunReport.Job] {
        let entries = plan.tasks.map { best($0, in: plan, of: claims[ClaimKey(plan.file, $0.name)] ?? []) }
        // A failed job with several outputs has one entry. Only failures are reported for a job as a whole.
        if plan.outputs.count > 1, entries.contains(where: { $0 == nil }),
            let whole = claims[ClaimKey(plan.file, plan.id)]?.last(where: { !$0.isDone })
        {
            return entries.compactMap(\.self) + [whole]
        }
        return zip(plan.tasks, entries).map { task, job in
            job ?? RunReport.Job(missing: task, reason: "no result of this job exists")
        }
    }

    /// Returns the best result for an output. Confirmed results are preferred, first the result of the run that created
    /// the output, which has the most details; then failures. If there is neither, the returned entry states why no
    /// result is confirmed. Returns nil if there is no result.
    private func best(_ task: OutputTask, in plan: JobPlan, of claims: [RunReport.Job]) -> RunReport.Job? {
        // No file confirms the result of an output that isn't published, so the latest result counts.
        var claims = claims
        if !task.output.isPublished {
            let ended = claims.filter { $0.outcome != .cancelled && $0.outcome != .notRun }
            claims = Array((ended.isEmpty ? claims : ended).suffix(1))
        }
        var mismatch: String?
        var failed: RunReport.Job?
        var confirmed: RunReport.Job?
        for claim in claims {
            guard claim.isDone else {
                failed = claim
                continue
            }
            if let found = claim.mismatch(with: task, of: plan, beneath: root) {
                mismatch = found
            } else if confirmed == nil || claim.outcome == .succeeded {
                confirmed = claim
            }
        }
        return confirmed ?? failed ?? mismatch.map { RunReport.Job(missing: task, reason: $0) }
    }
}
