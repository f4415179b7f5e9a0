package import Diagnostics
internal import Dispatch
internal import ExactStrings
package import JobSpec
internal import LibAV
internal import Locking
internal import Media
package import FileSystem
package import Publishing

/// The planner of all jobs of an invocation: each source is probed once, and destinations are compared.
package struct BatchPlanner {
    package struct Result: Sendable {
        /// The executable plans in starting order, and the diagnostics of jobs that were rejected.
        package var plan: BatchPlan
        /// Errors that affect all jobs: colliding destinations, destinations that are sources, and unknown job names.
        /// No job starts if there are any.
        package var conflicts: DiagnosticSink
        /// All diagnostics, for `tandem plan`.
        package var diagnostics: DiagnosticSink
        /// The job files with their patterns expanded.
        package var files: [JobFile]
    }

    struct Key: Hashable {
        let file: Int
        let id: ExactString

        init(file: Int, id: String) { (self.file, self.id) = (file, id.exact) }
    }

    let files: [JobFile]
    let prober: any SourceProber
    let memory: any PlanMemory
    var upToDateJobs: [Key: BatchPlan.UpToDateJob] = [:]
    /// Results of `memory`, fetched in parallel before planning; an inner nil marks a job that must be planned.
    private var prefetched: [Key: BatchPlan.UpToDateJob?] = [:]
    private var upToDateOrder: [BatchPlan.UpToDateJob] = []
    var probed: [ExactString: Swift.Result<SourceDescription, SourceProblem>] = [:]
    /// Probed image sequences by path, frame rate and frame count; several jobs may read one.
    var images: [ExactString: Swift.Result<(InputPlan.Source, SourceDescription), SourceProblem>] = [:]
    /// Probed images of covers by path.
    var coverImages: [ExactString: Swift.Result<CoverImage, SourceProblem>] = [:]
    /// The job that writes each destination, for help; nil until a source is missing.
    var writers: [ExactString: String]?
    var finder: SourceFinder
    /// Data about the composition that was planned last.
    var composed: ComposedSource?
    /// Whether the job that is being planned has an output with 4:4:4 or RGB frames.
    var keepsFullChroma = false
    /// Outputs that other jobs have published, while their reader is planned again.
    var published: [JobOutput] = []
    private var isReplanning: Bool { !published.isEmpty }
    var destinations = DestinationTable()
    var positions: [Key: Int] = [:]
    /// Index of a job's plan in `order`.
    var plans: [Key: Int] = [:]
    private(set) var order: [JobPlan] = []
    private var refusals: [BatchPlan.Refusal] = []
    private var refused: Set<Key> = []
    /// Count of still images over all plans, beyond `uncountedImages` of each.
    private var stills = 0
    /// Maximum number of still images of a job instance that are not counted.
    private static let uncountedImages = 128
    /// Maximum number of counted still images over all plans of an invocation.
    private static let maxCountedImages = 500_000
    var diagnostics = DiagnosticSink()

    init(files: [JobFile], prober: any SourceProber, memory: any PlanMemory) {
        self.files = files
        self.prober = prober
        self.memory = memory
        finder = SourceFinder(beneath: prober.environment.root)
        for (index, file) in files.enumerated() {
            for (position, job) in file.jobs.enumerated() {
                positions[Key(file: index, id: job.id.value)] = position
            }
        }
    }

    /// Plans all jobs of some files; with `names`, only the named jobs and those that they read or need; with
    /// `earlier`, only the jobs of that plan.
    package static func plan(
        _ files: [JobFile], only names: [String] = [], from argument: String = "--only",
        as earlier: BatchPlan? = nil,
        memory: any PlanMemory = NoMemory(),
        prober: any SourceProber = LocalProber()
    ) -> Result {
        var sink = DiagnosticSink()
        let root = prober.environment.root
        var expanded = files.map { $0.expanded(into: &sink, beneath: root) }
        ownOutputs(of: files, expanded: expanded, into: &sink)
        if let earlier { JobSelection.keep(earlier, in: &expanded) }
        var unknown = DiagnosticSink()
        if !names.isEmpty {
            let written = Set(files.flatMap { $0.jobs.map(\.base) })
            JobSelection(names: names, argument: argument, written: written).apply(
                to: &expanded, into: &unknown)
        }
        var planner = BatchPlanner(files: expanded, prober: prober, memory: memory)
        planner.diagnostics = sink
        planner.diagnostics.add(unknown)
        // An earlier plan contains only jobs that could be planned.
        if earlier == nil { planner.refuse(sink, templates: files, only: names) }
        return planner.run(unknown: unknown)
    }

    /// Rejects all instances of a job, by its name in the file, if its pattern matches nothing or its instances can't
    /// be expanded.
    private mutating func refuse(_ unmatched: DiagnosticSink, templates: [JobFile], only names: [String]) {
        var found: [(key: JobKey, diagnostics: [Diagnostic])] = []
        var positions: [JobKey: Int] = [:]
        for diagnostic in unmatched.diagnostics where diagnostic.severity == .error {
            for key in Self.owners(of: diagnostic, in: templates) {
                if let position = positions[key] {
                    found[position].diagnostics.append(diagnostic)
                } else {
                    positions[key] = found.count
                    found.append((key, [diagnostic]))
                }
            }
        }
        let isNamed = { (id: String) in
            names.isEmpty || names.contains { $0 == id || $0.hasPrefix(id + "[") }
        }
        for (key, diagnostics) in found where isNamed(key.id) {
            refusals.append(BatchPlan.Refusal(id: key.id, file: key.file, diagnostics: diagnostics))
        }
    }

    /// Returns the destinations and sources of all jobs of some files. Patterns are expanded; no source is opened.
    /// `stills` names the outputs whose file names depend on their sources.
    package static func places(
        _ files: [JobFile], beneath root: PathRoot
    ) -> (
        destinations: Set<DestinationPath>, stills: Set<JobKey>, sources: [FileIdentity],
        problems: DiagnosticSink
    ) {
        var stills: Set<JobKey> = []
        var sink = DiagnosticSink()
        var table = DestinationTable()
        var paths: Set<DestinationPath> = []
        let expanded = files.map { $0.expanded(into: &sink, beneath: root) }
        for file in expanded {
            for job in file.jobs {
                for output in job.outputs {
                    if output.images != nil {
                        let name = OutputTask.name(job: job.id.value, output: output.id?.value)
                        stills.insert(JobKey(file: file.path, id: name))
                    }
                    guard let written = output.destination?.path,
                        let path = table.resolve(file.absolutePath(written))
                    else { continue }
                    paths.insert(path)
                    if output.images?.sheet?.index != nil { paths.insert(path.sibling(path.stem + ".vtt")) }
                }
            }
        }
        var finder = SourceFinder(beneath: root)
        let sources = finder.files(of: expanded).compactMap { FileIdentity(path: $0.path) }
        return (paths, stills, sources, sink)
    }

    /// Plans all jobs. `unknown` contains errors about requested jobs that don't exist; no job starts if there are
    /// any.
    private mutating func run(unknown: DiagnosticSink) -> Result {
        probeAhead()
        for (index, file) in files.enumerated() {
            for job in file.jobs { planWithDependencies(job, in: index) }
        }
        var conflicts = DiagnosticSink()
        checkCollisions(into: &conflicts)
        checkSources(into: &conflicts)
        diagnostics.add(conflicts)
        conflicts.add(unknown)
        checkSpace()
        return Result(
            plan: BatchPlan(jobs: order, upToDateJobs: upToDateOrder, refusals: refusals),
            conflicts: conflicts,
            diagnostics: diagnostics,
            files: files)
    }

    /// Probes in parallel all sources of jobs that are not up to date.
    private mutating func probeAhead() {
        var queries: [(file: Int, query: UpToDateQuery)] = []
        for (index, file) in files.enumerated() {
            for job in file.jobs {
                guard case .file = job.asset.source, let query = query(job, in: index) else { continue }
                queries.append((index, query))
            }
        }
        // Batches of 64: one lookup takes less time than its dispatch.
        let (memory, requested, stride) = (memory, queries, 64)
        let upToDate = Guarded([[BatchPlan.Output]?](repeating: nil, count: requested.count))
        DispatchQueue.concurrentPerform(iterations: (requested.count + stride - 1) / stride) { part in
            let indices = part * stride..<min(requested.count, (part + 1) * stride)
            let found = indices.map { memory.upToDateOutputs(of: requested[$0].query) }
            upToDate.withLock { $0.replaceSubrange(indices, with: found) }
        }
        var wanted: [(path: String, timing: AssetTiming)] = []
        var seen: Set<ExactString> = []
        for ((index, query), outputs) in zip(queries, upToDate.withLock({ $0 })) {
            let job = query.job
            prefetched[Key(file: index, id: job.id.value)] =
                .some(outputs.map { Self.upToDateJob(query, $0) })
            if outputs != nil { continue }
            if let path = query.source,
                seen.insert(Self.probeKey(path, job.asset.timing)).inserted
            {
                wanted.append((path, job.asset.timing))
            }
        }
        for file in files {
            for case .composition(let spec) in file.jobs.map(\.asset.source) {
                for asset in spec.assets {
                    guard case .file(let written) = asset.source else { continue }
                    let path = file.absolutePath(written)
                    if seen.insert(Self.probeKey(path, asset.timing)).inserted {
                        wanted.append((path, asset.timing))
                    }
                }
            }
        }
        // A single source is probed when its job is planned.
        guard wanted.count > 1 else { return }
        let (prober, paths) = (prober, wanted)
        let results = Guarded(
            [Swift.Result<SourceDescription, SourceProblem>?](repeating: nil, count: paths.count))
        DispatchQueue.concurrentPerform(iterations: paths.count) { position in
            let (path, timing) = paths[position]
            let result = Self.probe(path, timing, prober)
            results.withLock { $0[position] = result }
        }
        for (position, result) in results.withLock({ $0 }).enumerated() {
            probed[Self.probeKey(paths[position].path, paths[position].timing)] = result
        }
    }

    static func probeKey(_ path: String, _ timing: AssetTiming) -> ExactString {
        "\(timing.rawValue):\(path)".exact
    }

    /// Plans a job after the jobs that it reads. Decoding has already rejected cycles.
    private mutating func planWithDependencies(_ job: JobSpec, in index: Int) {
        var open = [(job: job, isNext: false)]
        var seen: Set<Key> = []
        while let (job, isNext) = open.popLast() {
            if isPlanned(job, in: index) { continue }
            if isNext {
                planNext(job, in: index)
                continue
            }
            guard seen.insert(Key(file: index, id: job.id.value)).inserted else { continue }
            open.append((job, true))
            for run in job.asset.readInstances.reversed() {
                guard let position = positions[Key(file: index, id: run)] else { continue }
                open.append((files[index].jobs[position], false))
            }
        }
    }

    private mutating func planNext(_ job: JobSpec, in index: Int) {
        let key = Key(file: index, id: job.id.value)
        let found: BatchPlan.UpToDateJob? = prefetched[key] ?? upToDateJob(job, in: index)
        if let found {
            upToDateJobs[key] = found
            upToDateOrder.append(found)
            return
        }
        var own = DiagnosticSink()
        var plan = plan(job, in: index, into: &own)
        if let planned = plan, !admits(planned) {
            own.error(
                .fanOut,
                "the plan has too many still images: at most \(Self.maxCountedImages) are allowed beyond the first \(Self.uncountedImages) of each job instance",
                at: job.id.range)
            plan = nil
        }
        let sink = Self.named(own, of: job)
        if let plan {
            plans[key] = order.count
            order.append(plan)
        } else {
            refusals.append(
                BatchPlan.Refusal(
                    id: job.id.value, file: files[index].path, diagnostics: sink.diagnostics))
            refused.insert(key)
        }
        diagnostics.add(sink)
    }

    /// Counts the still images of a plan. Returns false if the invocation has too many. Each takes about 800 bytes in a
    /// plan.
    private mutating func admits(_ plan: JobPlan) -> Bool {
        let count = plan.outputs.reduce(0) { $0 + ($1.images?.stills.count ?? 0) }
        stills += max(0, count - Self.uncountedImages)
        return stills <= Self.maxCountedImages
    }

    /// Adds the name of the job instance to diagnostics of a job that has several.
    private static func named(_ found: DiagnosticSink, of job: JobSpec) -> DiagnosticSink {
        guard job.id.value.exact != job.base.exact else { return found }
        var sink = DiagnosticSink()
        for var diagnostic in found.diagnostics {
            diagnostic.jobs = [job.id.value]
            sink.add(diagnostic)
        }
        return sink
    }

    private func isPlanned(_ job: JobSpec, in index: Int) -> Bool {
        let key = Key(file: index, id: job.id.value)
        return plans[key] != nil || refused.contains(key) || upToDateJobs[key] != nil
    }

    /// Returns the cached result of a job that is up to date; nil if it must be planned.
    private mutating func upToDateJob(_ job: JobSpec, in index: Int) -> BatchPlan.UpToDateJob? {
        query(job, in: index).flatMap { query in
            memory.upToDateOutputs(of: query).map { Self.upToDateJob(query, $0) }
        }
    }

    private static func upToDateJob(
        _ query: UpToDateQuery, _ outputs: [BatchPlan.Output]
    ) -> BatchPlan.UpToDateJob {
        BatchPlan.UpToDateJob(
            id: query.job.id.value, base: query.job.base, file: query.file.path, outputs: outputs)
    }

    /// Returns the query for the memory about a job; nil if the job must be planned in any case.
    private mutating func query(_ job: JobSpec, in index: Int) -> UpToDateQuery? {
        let file = files[index]
        guard !job.isTemplate else { return nil }
        let covers = job.outputs.compactMap(\.metadata.cover).map(file.absolutePath)
        var query = UpToDateQuery(file: file, job: job, source: nil, covers: covers, outputs: [])
        for output in job.outputs {
            var path: DestinationPath?
            if let written = output.destination?.path {
                path = destinations.resolve(file.absolutePath(written))
                if path == nil { return nil }
            }
            query.outputs.append(
                UpToDateQuery.Output(
                    id: output.id?.value, destination: path?.path,
                    hasSeveralFiles: output.namesEachImage || output.images?.sheet?.index != nil))
        }
        switch job.asset.source {
        case .file(let written): query.source = file.absolutePath(written)
        case .pattern: break
        case .job(_, let run, let output):
            guard let needed = upToDateJobs[Key(file: index, id: run)]?.destination(of: output?.value) else {
                return nil
            }
            query.source = needed
        case .url, .glob, .images, .image, .composition, .composed: return nil
        }
        return query
    }

    mutating func plan(
        _ job: JobSpec, in index: Int, into sink: inout DiagnosticSink
    ) -> JobPlan? {
        let file = files[index]
        guard !job.isTemplate, !job.outputs.contains(where: \.lacksContainer) else {
            sink.error(.noMatch, "the source of this job was not found", at: job.asset.range)
            return nil
        }
        let targets = targets(of: job, in: file, into: &sink)
        let covers = covers(of: job, in: index, into: &sink)
        composed = nil
        keepsFullChroma = job.outputs.contains { $0.tracks.contains(where: \.requestsFullChroma) }
        guard targets.count == job.outputs.count,
            let (source, known) = source(job.asset, in: index, into: &sink),
            let description = measured(known, of: source, for: job, into: &sink)
        else { return nil }
        if description.missingBytes > 0, job.onDamage?.value != .skip, case .file(let path, _) = source {
            let name = path.pathParts.last ?? path
            sink.error(
                .sourceUnreadable,
                "\(name) is truncated: \(description.missingBytes) bytes are missing",
                at: job.asset.range, notes: [Diagnostic.Note("the path is \(path)")],
                help: "use `on_damage: skip` to process the rest")
        }
        var plan = JobPlan(
            id: job.id.value, base: job.base, needs: job.needs.map(\.value), file: file.path,
            location: job.id.range, inputs: [], outputs: [], scheduling: job.scheduling)
        for (position, (output, destination)) in zip(job.outputs, targets).enumerated() {
            let decision: Decision<(input: InputPlan, output: OutputPlan)>
            if case .check(let spec) = output.kind {
                decision =
                    CheckPlanner(
                        job: job, output: output, spec: spec, source: source, description: description,
                        prober: prober
                    ).decide()
            } else if let container = output.container, let written = output.destination, let destination {
                if !isReplanning, !output.namesEachImage {
                    checkDestination(destination, as: written, in: file.path, into: &sink)
                }
                decision =
                    OutputPlanner(
                        job: job, output: output, container: container, source: source,
                        description: description, destination: destination, as: written, prober: prober,
                        composed: composed, cover: covers[position]
                    ).decide()
            } else {
                continue
            }
            sink.add(decision.reasons.diagnostics)
            guard var planned = decision.value else { continue }
            planned.output.notes = (composed?.notes ?? []) + planned.output.notes
            plan.add(planned.output, madeOf: planned.input)
            let task = OutputTask(
                job: plan.id, file: plan.file, input: planned.input, output: planned.output)
            // The expectations of a check are evaluated while its source is read.
            guard let destination, let written = output.destination else { continue }
            ExpectationForecast(task).report(into: &sink)
            guard !isReplanning else { continue }
            for (index, part) in task.files.enumerated() {
                let path =
                    part.output.destination?.pathParts.last.map { destination.sibling($0) } ?? destination
                if index > 0 || output.namesEachImage {
                    checkDestination(path, as: written, in: file.path, into: &sink)
                    if sink.hasErrors { break }
                }
                checkOwner(part, path, as: written, into: &sink)
            }
        }
        return sink.hasErrors ? nil : plan
    }

    /// Returns the resolved destination of each output, nil for a check; fewer after an error.
    private mutating func targets(
        of job: JobSpec, in file: JobFile, into sink: inout DiagnosticSink
    ) -> [DestinationPath?] {
        var targets: [DestinationPath?] = []
        for output in job.outputs {
            guard let written = output.destination?.path else {
                targets.append(nil)
                continue
            }
            guard let path = destinations.resolve(file.absolutePath(written)) else {
                sink.error(
                    .destinationUnwritable, "the parent of `\(written.value)` is not a folder",
                    at: written.range)
                continue
            }
            targets.append(path)
        }
        return targets
    }
}
