public import Diagnostics
public import JobSpec
internal import LibAV
public import Media

/// Plans the jobs of all files of a call together: each source probed once, destinations compared.
public struct Planner {
    /// What came of planning.
    public struct Result: Sendable {
        /// The plans that can be carried out, in starting order, and why the others can't.
        public var plan: BatchPlan
        /// What concerns the call as a whole: collisions, and destinations that are sources. Nothing is
        /// started while there are any.
        public var conflicts: DiagnosticSink
        /// Everything, for `tandem plan`.
        public var diagnostics: DiagnosticSink
    }

    /// How a path is probed; tests put another one in.
    public typealias Probe = (_ path: String, _ timing: AssetTiming) throws -> SourceDescription

    private struct Key: Hashable {
        let file: Int
        let id: String
    }

    private let files: [JobFile]
    private let probe: Probe
    private var probed: [String: Swift.Result<SourceDescription, any Error>] = [:]
    private var plans: [Key: JobPlan] = [:]
    private var order: [JobPlan] = []
    private var refusals: [BatchPlan.Refusal] = []
    private var diagnostics = DiagnosticSink()

    private init(files: [JobFile], probe: @escaping Probe) {
        self.files = files
        self.probe = probe
    }

    /// Plans all jobs of some files.
    public static func plan(_ files: [JobFile], probe: @escaping Probe = Planner.probe) -> Result {
        var planner = Planner(files: files, probe: probe)
        return planner.run()
    }

    /// Plans one job anew, whose source was foretold and now exists.
    public static func replan(_ plan: JobPlan, in files: [JobFile]) throws(PlanningError) -> JobPlan {
        guard let index = files.firstIndex(where: { $0.path == plan.file }),
            let job = files[index].jobs.first(where: { $0.id.value == plan.id })
        else { throw PlanningError(diagnostics: []) }
        var planner = Planner(files: files, probe: probe)
        var sink = DiagnosticSink()
        guard case .job(_, let path) = plan.source, let identity = FileIdentity(path: path) else {
            return plan
        }
        guard
            let fresh = planner.plan(
                job, in: index, foreseen: .file(path: path, identity: identity), into: &sink)
        else {
            throw PlanningError(diagnostics: sink.diagnostics)
        }
        return fresh
    }

    /// Asks the file itself.
    public static func probe(_ path: String, _ timing: AssetTiming) throws -> SourceDescription {
        SourceDescription(try Asset(.file(path), timing: timing).loadSynchronously())
    }

    private mutating func run() -> Result {
        for (index, file) in files.enumerated() {
            for job in file.jobs { planWithDependencies(job, in: index) }
        }
        var conflicts = DiagnosticSink()
        checkCollisions(into: &conflicts)
        checkSources(into: &conflicts)
        for diagnostic in conflicts.diagnostics { diagnostics.add(diagnostic) }
        return Result(
            plan: BatchPlan(jobs: order, refusals: refusals), conflicts: conflicts, diagnostics: diagnostics)
    }

    /// Circles were refused when the file was decoded; a job waits for at most one other.
    private mutating func planWithDependencies(_ job: JobSpec, in index: Int) {
        var chain = [job]
        while let needed = chain.last.flatMap({ files[index].dependency(of: $0) })?.value,
            let next = files[index].jobs.first(where: { $0.id.value == needed }),
            chain.count <= files[index].jobs.count
        {
            chain.append(next)
        }
        for job in chain.reversed() where !isPlanned(job, in: index) {
            var sink = DiagnosticSink()
            if let plan = plan(job, in: index, foreseen: nil, into: &sink) {
                plans[Key(file: index, id: job.id.value)] = plan
                order.append(plan)
            } else {
                refusals.append(
                    BatchPlan.Refusal(
                        id: job.id.value, file: files[index].path, diagnostics: sink.diagnostics))
                refused.insert(Key(file: index, id: job.id.value))
            }
            for diagnostic in sink.diagnostics { diagnostics.add(diagnostic) }
        }
    }
    private var refused: Set<Key> = []

    private func isPlanned(_ job: JobSpec, in index: Int) -> Bool {
        let key = Key(file: index, id: job.id.value)
        return plans[key] != nil || refused.contains(key)
    }

    private mutating func plan(
        _ job: JobSpec, in index: Int, foreseen: JobPlan.Source?, into sink: inout DiagnosticSink
    ) -> JobPlan? {
        let file = files[index]
        guard let asset = file.asset(of: job) else { return nil }
        guard let destination = DestinationPath(job.destination.path.value, from: file.directory) else {
            sink.error(
                .destinationUnwritable, "`\(job.destination.path.value)` lies in something that is no folder",
                at: job.destination.path.range)
            return nil
        }
        guard let (source, description) = source(asset, job: job, in: index, foreseen: foreseen, into: &sink)
        else { return nil }
        if foreseen == nil { checkDestination(destination, job: job, into: &sink) }
        var planner = JobPlanner(
            job: job, file: file, asset: asset, source: source, description: description,
            destination: destination)
        let plan = planner.plan()
        for diagnostic in planner.sink.diagnostics { sink.add(diagnostic) }
        return sink.hasErrors ? nil : plan
    }

    private mutating func source(
        _ asset: AssetSpec, job: JobSpec, in index: Int, foreseen: JobPlan.Source?,
        into sink: inout DiagnosticSink
    ) -> (JobPlan.Source, SourceDescription)? {
        switch asset.source {
        case .pattern(let pattern):
            do {
                return (
                    .pattern(pattern), SourceDescription(try Asset(.pattern(pattern)).loadSynchronously())
                )
            } catch {
                sink.error(.sourceUnreadable, "the test signal can't be made: \(error)", at: asset.range)
                return nil
            }
        case .job(let id):
            if case .file(let path, _)? = foreseen, let foreseen {
                return describe(path, asset.timing, at: id.range, into: &sink).map { (foreseen, $0) }
            }
            guard let needed = plans[Key(file: index, id: id.value)] else {
                sink.error(
                    .sourceUnreadable,
                    "the job `\(id.value)`, whose output this one reads, can't be carried out", at: id.range)
                return nil
            }
            return (.job(id: id.value, path: needed.destination), SourceDescription(foretoldBy: needed))
        case .file(let written):
            let path =
                written.value.hasPrefix("/") ? written.value : files[index].directory + "/" + written.value
            guard let description = describe(path, asset.timing, at: written.range, into: &sink),
                let identity = FileIdentity(path: path)
            else { return nil }
            return (.file(path: path, identity: identity), description)
        }
    }

    private mutating func describe(
        _ path: String, _ timing: AssetTiming, at place: SourceRange, into sink: inout DiagnosticSink
    ) -> SourceDescription? {
        let key = "\(timing.rawValue):\(path)"
        let result = probed[key] ?? Swift.Result { try probe(path, timing) }
        probed[key] = result
        switch result {
        case .success(let description): return description
        case .failure(let error):
            let why = (error as? InputError)?.explanation ?? "\(error)"
            let name = path.split(separator: "/").last.map(String.init) ?? path
            sink.error(
                .sourceUnreadable, "\(name): \(why)", at: place,
                notes: [Diagnostic.Note("the path is \(path)")])
            return nil
        }
    }

    private func checkDestination(
        _ destination: DestinationPath, job: JobSpec, into sink: inout DiagnosticSink
    ) {
        let place = job.destination.path.range
        switch DestinationPath.occupant(of: destination.path) {
        case .nothing, .published: break
        case .notAFile:
            sink.error(
                .destinationExists, "the destination \(destination.path) is a folder or no regular file",
                at: place)
        case .foreign:
            if job.destination.ifExists == .fail {
                sink.error(
                    .destinationExists,
                    "the destination exists, and Tandem did not publish it: \(destination.path)", at: place,
                    help: "`destination: { path: …, if_exists: replace }` replaces it, `skip` leaves it")
            }
        }
        if !destination.missing.dropLast().isEmpty, !job.destination.makesDirectories {
            sink.error(
                .destinationUnwritable,
                "the folder \(destination.folder) doesn't exist, and `make_directories` is false", at: place)
        } else if !destination.isFolderWritable {
            sink.error(
                .destinationUnwritable, "the folder \(destination.existingFolder) can't be written", at: place
            )
        }
    }

    /// Two outputs never share a destination, whatever links lead there.
    private func checkCollisions(into sink: inout DiagnosticSink) {
        var first: [DestinationPath: SourceRange] = [:]
        for file in files {
            for job in file.jobs {
                let place = job.destination.path.range
                guard let path = DestinationPath(job.destination.path.value, from: file.directory) else {
                    continue
                }
                if let earlier = first[path] {
                    sink.error(
                        .destinationCollision, "two jobs have the destination \(path.path)", at: place,
                        notes: [Diagnostic.Note("the other one stands here", at: earlier)])
                } else {
                    first[path] = place
                }
            }
        }
    }

    /// Sources are never overwritten: device and inode tell, whatever the path.
    private func checkSources(into sink: inout DiagnosticSink) {
        var sources: [(identity: FileIdentity, place: SourceRange)] = []
        for file in files {
            let specs =
                file.assets.map(\.asset)
                + file.jobs.compactMap { if case .inline(let spec) = $0.asset { spec } else { nil } }
            for spec in specs {
                guard case .file(let written) = spec.source else { continue }
                let path = written.value.hasPrefix("/") ? written.value : file.directory + "/" + written.value
                if let identity = FileIdentity(path: path) { sources.append((identity, written.range)) }
            }
        }
        let byFile = Dictionary(
            sources.map { ([$0.identity.device, $0.identity.inode], $0.place) },
            uniquingKeysWith: { first, _ in first })
        for file in files {
            for job in file.jobs {
                guard let path = DestinationPath(job.destination.path.value, from: file.directory),
                    let identity = FileIdentity(path: path.path),
                    let place = byFile[[identity.device, identity.inode]]
                else { continue }
                sink.error(
                    .destinationIsSource,
                    "the destination is a source, and sources are never overwritten: \(path.path)",
                    at: job.destination.path.range, notes: [Diagnostic.Note("it is read here", at: place)])
            }
        }
    }
}

/// A job that can't be planned against its real source.
public struct PlanningError: Error, Sendable, CustomStringConvertible {
    /// Why.
    public var diagnostics: [Diagnostic]
    /// The first reason.
    public var description: String {
        diagnostics.first.map { "\($0.range): \($0.message)" } ?? "the job is gone"
    }
}
