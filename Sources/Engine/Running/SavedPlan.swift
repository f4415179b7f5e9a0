package import Diagnostics
internal import FoundationEssentials
package import FileSystem
internal import Glibc
internal import LibAV
package import JobPlan
package import JobRun
package import JobStages

/// A saved plan: a file, or one part (shard) of a folder.
package struct SavedPlan: Sendable {
    /// The plan, or the part to execute.
    package let file: PlanFile
    /// Folder of the parts; nil for a plan in one file.
    package let folder: ShardFolder?

    /// Reads a plan from a file, or the part at `shard` from a folder. Without `shard`, the index is taken from
    /// `SLURM_ARRAY_TASK_ID` or `JOB_COMPLETION_INDEX`.
    /// - Throws: An error if the plan can't be read, or if the index of the part isn't known.
    package init(reading path: String, shard: Int?, beneath root: PathRoot) throws(EngineError) {
        if Self.isFolder(path) {
            let folder = ShardFolder(path: path, beneath: root)
            let names = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]
            let inherited = names.lazy.compactMap { getenv($0).flatMap { Int(String(cString: $0)) } }.first
            guard let index = shard ?? inherited, index >= 0 else {
                throw EngineError(
                    .usage,
                    "\(path) is a plan in parts; select one by --shard, SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX"
                )
            }
            do throws(ShardFolder.Problem) {
                file = try folder.shard(index)
            } catch {
                throw EngineError(.invalidSpec, "\(error)")
            }
            self.folder = folder
        } else {
            guard access(path, R_OK) == 0 else {
                throw EngineError(
                    .invalidSpec, "the plan \(path) can't be read: \(String(cString: strerror(errno)))")
            }
            do {
                file = try PlanFile.read(try Data(contentsOf: URL(filePath: path)))
            } catch {
                throw EngineError(.invalidSpec, "\(path) is not a plan; `tandem plan --out FILE` writes one")
            }
            folder = nil
        }
    }

    /// Throws if the environment or the job files differ from those that were planned.
    package func check(_ set: JobFileSet) throws(EngineError) {
        try Self.refuse(file.environmentProblem ?? programProblem ?? file.specProblem(now: set.specs))
    }

    /// Difference between this program and the one that wrote the part, as a clause; nil if there is none.
    private var programProblem: String? {
        guard let digest = file.programDigest, digest != Self.programDigest else { return nil }
        return
            "the program differs from the one that planned, though both are tandem \(ProgramVersion.current)"
    }

    /// SHA-256 digest of this program; nil if it can't be read.
    private static var programDigest: String? {
        SHA256Hasher.digest(ofFile: "/proc/self/exe", in: SourceEnvironment())
    }

    /// Throws if the plan that was created now differs from the saved one.
    package func check(_ plan: BatchPlan) throws(EngineError) { try Self.refuse(file.planProblem(now: plan)) }

    /// Returns what a part executes: its jobs, which read the chunks that other parts have encoded, or the encoding of such
    /// chunks.
    /// - Throws: An error if the plan has no such track.
    func executed(_ runnable: Pipeline.Runnable) throws(EngineError) -> Pipeline.Runnable {
        guard let folder, let shard = file.shard else { return runnable }
        if let part = shard.chunks {
            guard let derived = runnable.deriving({ $0.chunkJob(part, in: folder.chunks) }) else {
                throw Self.refusal("a job lacks the track whose chunks are encoded")
            }
            return derived
        }
        guard let parts = shard.readChunks else { return runnable }
        let chunks = Dictionary(grouping: parts, by: \.key)
        return runnable.deriving { $0.reading(chunks[$0.key] ?? [], in: folder.chunks) } ?? runnable
    }

    /// Starts writing the progress of a part into the batch's folder; nil for a plan in one file.
    func writeProgress(of runner: BatchRunner) -> PartProgressWriter? {
        guard let folder, let part = file.shard?.index else { return nil }
        return PartProgressWriter(runner, of: part, to: folder)
    }

    /// Removes the files of chunks that finished jobs have read.
    func removeChunks(readBy records: [JobRecord]) {
        guard let folder, let parts = file.shard?.readChunks else { return }
        let done = Set(records.filter(\.outcome.isSuccess).map(\.key))
        folder.remove(parts.filter { done.contains($0.key) })
    }

    private static func refuse(_ problem: String?) throws(EngineError) {
        if let problem { throw refusal(problem) }
    }

    private static func refusal(_ problem: String) -> EngineError {
        EngineError(.invalidSpec, "the plan can't be run: \(problem); create a new one with `tandem plan`")
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    // MARK: Writing

    /// Writes a plan to a file, or in parts to a folder, and returns the written plan. In parts, jobs that depend on a
    /// refused job are refused as well. `estimate` determines which jobs a part contains; `chunks` are parts in addition
    /// to `shards`.
    /// - Throws: An environment error if the plan can't be written, or would overwrite a source or an output.
    package static func write(
        _ planned: Pipeline.Planned, of set: JobFileSet, variables: [String: String], to path: String,
        shards: Int?, chunks: [ChunkPart] = [],
        by estimate: ShardPlanner.Estimate = { JobCost($0).work }
    ) throws(EngineError) -> BatchPlan {
        if let problem = ReportDestinations.problem(
            writing: shards == nil ? [path] : [], with: planned.plan, of: planned.files)
        {
            throw EngineError(.environment, problem)
        }
        let plan = shards == nil ? planned.plan : ShardPlanner.withoutWaiting(planned.plan)
        var file = PlanFile(files: set.paths, specs: set.specs, variables: variables, plan: plan)
        guard let shards else {
            do {
                try ReportFile.write(Array(file.data()), to: path)
                return plan
            } catch {
                throw EngineError(.environment, "the plan: \(error)")
            }
        }
        file.programDigest = programDigest
        do throws(ShardFolder.Problem) {
            try ShardFolder(path: path, beneath: set.access.root).write(
                file,
                ShardPlanner.layout(
                    plan, into: shards, chunks: chunks, by: estimate))
        } catch {
            throw EngineError(.environment, "\(error)")
        }
        return plan
    }
}

extension Pipeline.Planned {
    /// Returns whether a plan with errors can be written in parts, which omit the jobs that can't be planned. Conflicts of
    /// the batch, and warnings that count as errors, prevent it.
    package func canBeSplit(_ strictness: Pipeline.Strictness, _ diagnostics: DiagnosticSink) -> Bool {
        !conflicts.hasErrors && !plan.jobs.isEmpty
            && !(strictness.warningsAreErrors && diagnostics.hasWarnings)
    }
}
