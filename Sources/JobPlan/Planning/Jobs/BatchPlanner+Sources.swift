internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem

/// Probing of the sources of jobs.
extension BatchPlanner {
    mutating func source(
        _ asset: AssetSpec, in index: Int, into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        switch asset.source {
        case .pattern(let pattern):
            do {
                return (
                    .pattern(pattern),
                    SourceDescription(
                        try Asset(.pattern(pattern), environment: MediaEnvironment()).loadSynchronously())
                )
            } catch {
                sink.error(.sourceUnreadable, "the test signal can't be generated: \(error)", at: asset.range)
                return nil
            }
        case .images(let written, let rate):
            return images(written, in: index, into: &sink) { path, finder throws(SourceProblem) in
                try finder.sequence(path, frameRate: rate)
            }
        case .image(let written, let duration, let rate):
            return images(written, in: index, into: &sink) { path, _ throws(SourceProblem) in
                ImageSequence(still: path, duration: duration, frameRate: rate)
            }
        case .composition(let spec): return compose(spec, in: index, into: &sink)
        case .composed(let composition): return describe(composition, at: asset.range, into: &sink)
        case .glob: return nil
        case .job(let id, let run, let output):
            if let path = published(run, output?.value, in: index)
                ?? upToDateJobs[Key(file: index, id: run)]?.destination(of: output?.value)
            {
                guard let description = describe(path, asset.timing, at: id.range, into: &sink),
                    let identity = FileIdentity(path: path)
                else { return nil }
                return (.file(path: path, identity: identity), description)
            }
            let tasks = plans[Key(file: index, id: run)].map { order[$0].tasks } ?? []
            guard let needed = tasks.first(where: { $0.output.id == output?.value }),
                let path = needed.output.destination
            else {
                sink.error(
                    .sourceUnreadable,
                    "the job `\(run)`, whose output is the source, was rejected", at: id.range)
                return nil
            }
            return (.job(id: run, path: path), SourceDescription(foretoldBy: needed))
        case .url(let url):
            guard let description = describe(url.value, asset.timing, at: url.range, into: &sink) else {
                return nil
            }
            // Only the process with network access requests the remote file; its identity is the file size in
            // the description.
            let identity = FileIdentity(remoteSize: description.fileSize)
            return (.file(path: url.value, identity: identity), description)
        case .file(let written):
            let path = files[index].absolutePath(written)
            guard let description = describe(path, asset.timing, at: written.range, into: &sink),
                let identity = FileIdentity(path: path)
            else { return nil }
            return (.file(path: path, identity: identity), description)
        }
    }

    /// Returns the description, or a measured one where a guessed duration would affect the job.
    mutating func measured(
        _ description: SourceDescription, of source: InputPlan.Source, for job: JobSpec,
        into sink: inout DiagnosticSink
    ) -> SourceDescription? {
        guard case .file(let path, _) = source,
            EstimatedLength(source: description, job: job, prober: prober).isRelevant
        else { return description }
        return describe(path, .precise, at: job.asset.range, into: &sink)
    }

    private mutating func images(
        _ written: Located<String>, in index: Int, into sink: inout DiagnosticSink,
        find: (String, inout SourceFinder) throws(SourceProblem) -> ImageSequence
    ) -> (InputPlan.Source, SourceDescription)? {
        let path = files[index].absolutePath(written)
        do throws(SourceProblem) {
            let sequence = try find(path, &finder)
            let key = "\(sequence.frameRate) \(sequence.frameCount) \(sequence.path)".exact
            let result = images[key] ?? Self.probe(sequence, prober)
            images[key] = result
            return try result.get()
        } catch {
            Self.refuse(written.value, path, error, at: written.range, into: &sink)
            return nil
        }
    }

    /// Probes the covers of a job's outputs. Returns the plan of each output's cover; nil if it has none, or after an
    /// error.
    mutating func covers(of job: JobSpec, in index: Int, into sink: inout DiagnosticSink) -> [CoverPlan?] {
        job.outputs.map { output in
            guard let written = output.metadata.cover else { return nil }
            let path = files[index].absolutePath(written)
            let result =
                coverImages[path.exact]
                ?? Swift.Result { () throws(SourceProblem) in try prober.cover(of: path) }
            coverImages[path.exact] = result
            switch result {
            case .success(let image): return CoverPlan(path: path, image: image, location: written.range)
            case .failure(let problem):
                Self.refuse(written.value, path, problem, at: written.range, into: &sink)
                return nil
            }
        }
    }

    private static func refuse(
        _ name: String, _ path: String, _ problem: SourceProblem, at location: SourceRange,
        help: String? = nil, into sink: inout DiagnosticSink
    ) {
        sink.error(
            .sourceUnreadable, "\(name): \(problem)", at: location,
            notes: [Diagnostic.Note("the path is \(path)")], help: help)
    }

    /// Returns help for a source that doesn't exist: the job of a single job file that writes it, or the supported
    /// syntax of a pattern that other tools expand; nil otherwise.
    private mutating func help(missing path: String) -> String? {
        if files.count == 1, writers == nil {
            let named = files[0].jobs.flatMap { job in
                job.outputs.compactMap { output in
                    output.destination.map { (files[0].absolutePath($0.path).exact, job.base) }
                }
            }
            writers = Dictionary(named, uniquingKeysWith: { first, _ in first })
        }
        if let job = writers?[path.exact] {
            return "the job `\(job)` writes this file; `asset: { job: \(job) }` reads it after that job"
        }
        let name = path.pathParts.last ?? path
        if NumberedName(path: path) != nil {
            return "numbered images are `asset: { images: \(name), frame_rate: 25 }`"
        }
        return name.contains("{") && name.contains(",") && name.contains("}")
            ? "a pattern can't contain `{a,b}`; it contains `*`, `?` and `[…]`" : nil
    }

    /// Probes the first image, which describes the whole sequence.
    private static func probe(
        _ sequence: ImageSequence, _ prober: any SourceProber
    ) -> Swift.Result<(InputPlan.Source, SourceDescription), SourceProblem> {
        Swift.Result { () throws(SourceProblem) in
            let description = try prober.description(of: sequence)
            guard let identity = sequence.filesIdentity else {
                throw SourceProblem("an image doesn't exist, or is not a regular file")
            }
            return (.images(sequence, identity: identity), description)
        }
    }

    static func probe(
        _ path: String, _ timing: AssetTiming, _ prober: any SourceProber
    ) -> Swift.Result<SourceDescription, SourceProblem> {
        Swift.Result { () throws(SourceProblem) in try prober.description(of: path, timing) }
    }

    mutating func describe(
        _ path: String, _ timing: AssetTiming, at location: SourceRange, into sink: inout DiagnosticSink
    ) -> SourceDescription? {
        let key = Self.probeKey(path, timing)
        let result = probed[key] ?? Self.probe(path, timing, prober)
        probed[key] = result
        switch result {
        case .success(let description): return description
        case .failure(let error):
            Self.refuse(
                path.pathParts.last ?? path, path, error, at: location,
                help: FileIdentity(path: path) == nil ? help(missing: path) : nil, into: &sink)
            return nil
        }
    }
}
