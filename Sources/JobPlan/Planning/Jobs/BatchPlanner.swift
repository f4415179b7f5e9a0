package import Diagnostics
package import ExactStrings
package import JobSpec
internal import LibAV
internal import Media
package import Publishing

/// The planner of the jobs of all files of a call: each source is probed once, and destinations are compared.
package struct BatchPlanner {
    /// The result of planning.
    package struct Result: Sendable {
        /// The executable plans in starting order, and the diagnostics of jobs that were refused.
        package var plan: BatchPlan
        /// Errors of the call as a whole: colliding destinations, destinations that are sources, and unknown job
        /// names. No job starts if there are any.
        package var conflicts: DiagnosticSink
        /// The jobs with such destinations.
        package var conflictingJobs: Set<JobKey>
        /// All diagnostics, for `tandem plan`.
        package var diagnostics: DiagnosticSink
        /// The job files with their patterns expanded.
        package var files: [JobFile]
    }

    private let files: [JobFile]
    private let disk: any DiskQueries
    private let catalog: SourceCatalog
    private let overwrites: SourceOverwriteCheck
    private let check: DestinationCheck
    private let groups: LoudnessGroups
    private var lookup: UpToDateLookup
    /// Sources of the jobs that must be planned, to be probed ahead.
    private let requests: [SourceRequest]
    private var destinations: DestinationTable
    private var planned = PlannedJobs()
    private var budget = StillImageBudget()
    private var diagnostics = DiagnosticSink()
    /// Outputs of other jobs, by path.
    private let occupied: [ExactString: JobKey]

    private init(
        _ files: [JobFile], of all: [JobFile], others: [JobFile], occupied: [ExactString: JobKey],
        as earlier: BatchPlan?, prober: any SourceProber, memory: any PlanMemory, disk: any DiskQueries
    ) {
        self.occupied = occupied
        catalog = SourceCatalog(files, prober: prober, disk: disk)
        var divider = TrackDivider(catalog)
        let files = divider.divided(files)
        (self.files, self.disk) = (files, disk)
        destinations = DestinationTable(on: disk)
        groups = LoudnessGroups(
            divider.divided(all) { $0.sharedNormalization != nil }, catalog: catalog, as: earlier)
        lookup = UpToDateLookup(memory)
        requests = lookup.fetch(files, destinations: &destinations)
        var finder = SourceFinder(beneath: prober.environment.root, on: disk)
        overwrites = SourceOverwriteCheck(
            files, sources: catalog.files, others: finder.files(of: others),
            known: lookup.identities, owns: { path in files.contains { memory.owns(path, for: $0.path) } },
            on: disk)
        check = DestinationCheck(
            memory: memory, root: prober.environment.root, disk: disk, overwrites: overwrites)
        for refusal in divider.refusals { planned.add(refusal) }
        diagnostics = divider.diagnostics
    }

    /// Plans all jobs of some files; or the named jobs with those that they read or need; or the jobs of an earlier
    /// plan. With `selected`, only these instances are planned. `occupied` are paths of outputs that belong to other jobs.
    package static func plan(
        _ files: [JobFile], only names: [String] = [], from argument: String = "--only",
        as earlier: BatchPlan? = nil, selecting selected: Set<JobKey>? = nil,
        occupied: [ExactString: JobKey] = [:],
        memory: any PlanMemory = NoMemory(),
        prober: any SourceProber = LocalProber(), disk: any DiskQueries = SystemDisk()
    ) -> Result {
        var sink = DiagnosticSink()
        let root = prober.environment.root
        var expanded = files.map { $0.expanded(into: &sink, beneath: root, on: disk) }
        PatternCheck.warn(files, expanded: expanded, into: &sink)
        let all = expanded
        if let selected {
            for index in expanded.indices {
                let file = expanded[index]
                expanded[index].jobs = file.jobs.filter { selected.contains(file.key(of: $0)) }
            }
        }
        if let earlier { JobSelection.keep(earlier, in: &expanded) }
        var unknown = DiagnosticSink()
        if !names.isEmpty {
            let written = Set(files.flatMap { $0.jobs.map(\.base) })
            JobSelection(names: names, argument: argument, written: written).apply(
                to: &expanded, into: &unknown)
        }
        var planner = BatchPlanner(
            expanded, of: all,
            // The jobs of an earlier plan were compared when it was created.
            others: earlier == nil && (selected != nil || !names.isEmpty) ? all : [],
            occupied: occupied, as: earlier, prober: prober, memory: memory, disk: disk)
        for found in [sink, unknown] { planner.diagnostics.add(found) }
        // An earlier plan contains only jobs that could be planned. Its skipped jobs stay skipped: a part of a plan lacks the
        // jobs that they read.
        for skip in earlier?.skips ?? [] {
            guard let file = expanded.firstIndex(where: { $0.path.exact == skip.file.exact }) else {
                continue
            }
            planner.planned.add(skip, inFile: file)
        }
        if earlier == nil, selected == nil {
            for refusal in PatternCheck.refusals(sink, of: files, only: names) {
                planner.planned.add(refusal)
            }
        }
        return planner.run(unknown: unknown)
    }

    /// Plans all jobs. `unknown` contains errors about requested jobs that don't exist; no job starts if there are
    /// any.
    private mutating func run(unknown: DiagnosticSink) -> Result {
        catalog.probe(ahead: requests + files.flatMap(\.clipRequests))
        for entry in JobOrder(files).entries { plan(entry) }
        var conflicts = DiagnosticSink()
        let images = ImageOutputFiles.all(planned, of: files)
        let active = files.enumerated().map { index, file in
            var file = file
            if !planned.skips.isEmpty {
                file.jobs.removeAll {
                    planned.skipped.contains(InstanceKey(file: index, id: $0.id.value))
                }
            }
            return file
        }
        let collisions = CollisionCheck.errors(active, images: images, others: occupied, &destinations)
        let overwritten = overwrites.errors(active, images: images, &destinations)
        for found in [collisions, overwritten] { conflicts.add(found.sink) }
        diagnostics.add(conflicts)
        conflicts.add(unknown)
        diagnostics.add(SpaceCheck.warnings(planned.plans, &destinations, on: disk))
        return Result(
            plan: BatchPlan(
                jobs: planned.plans, upToDateJobs: planned.upToDate.map(\.job), skips: planned.skips,
                refusals: planned.refusals),
            conflicts: conflicts, conflictingJobs: collisions.jobs.union(overwritten.jobs),
            diagnostics: diagnostics,
            files: files)
    }

    /// Plans a job, unless it is up to date. The jobs whose outputs it reads are planned before.
    private mutating func plan(_ entry: JobOrder.Entry) {
        let file = files[entry.file]
        let job = file.jobs[entry.job]
        if let found = lookup.result(of: job, in: file, at: entry.file, after: planned, &destinations) {
            planned.add(upToDate: found, at: entry)
            return
        }
        let decision = JobPlanner(
            job: job, file: file, catalog: catalog, outputs: planned.outputs(readBy: job, in: entry.file),
            destinationCheck: check
        ).decide(&destinations)
        if case .skip(let skip) = decision.value {
            planned.add(skip, inFile: entry.file)
            diagnostics.add(decision.reasons.diagnostics)
            return
        }
        var own = decision.reasons.diagnostics
        var plan = decision.value?.plan
        if let planned = plan {
            plan = groups.completed(planned, of: job, inFile: entry.file, &destinations, into: &own)
        }
        if let planned = plan, !budget.admits(planned) {
            own.error(.fanOut, StillImageBudget.problem, at: job.id.range)
            plan = nil
        }
        let sink = own.named(of: job)
        if let plan {
            planned.add(plan, at: entry)
        } else {
            planned.add(
                BatchPlan.Refusal(id: job.id.value, file: file.path, diagnostics: sink.diagnostics))
        }
        diagnostics.add(sink)
    }

}

extension DiagnosticSink {
    /// Returns the diagnostics with the name of the job instance, for a job that has several.
    func named(of job: JobSpec) -> DiagnosticSink {
        guard job.id.value.exact != job.base.exact else { return self }
        var sink = DiagnosticSink()
        for var diagnostic in diagnostics {
            diagnostic.jobs = [job.id.value]
            sink.add(diagnostic)
        }
        return sink
    }
}

extension JobFile {
    /// The files that compositions of the job file read.
    fileprivate var clipRequests: [SourceRequest] {
        jobs.flatMap { job -> [SourceRequest] in
            guard case .composition(let spec) = job.asset.source else { return [] }
            return spec.assets.compactMap { asset in
                guard case .file(let written) = asset.source else { return nil }
                return SourceRequest(path: absolutePath(written), timing: asset.timing)
            }
        }
    }
}
