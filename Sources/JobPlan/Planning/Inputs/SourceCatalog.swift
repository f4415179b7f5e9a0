internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import Publishing
internal import Streaming

/// The sources of a call: each file, image sequence and cover is probed once for all jobs. Planners share the catalog;
/// it is confined to the thread that plans.
final class SourceCatalog {
    let prober: any SourceProber
    /// The same prober, which packages are registered with.
    private let packageProber: PackageProber
    /// The prober without packages, for paths of manifests that aren't read as packages.
    private let fileProber: any SourceProber
    /// Descriptions of packages by path and timing.
    private var probedPackages: [ExactString: Result<SourceDescription, SourceProblem>] = [:]
    private var packages: [ExactString: Result<SegmentedPackage, SourceProblem>] = [:]
    let disk: any DiskQueries
    /// Fonts for text in compositions, which are listed when a composition has a layer.
    private(set) lazy var fonts = FontFinder(on: disk)
    private let jobFiles: [JobFile]
    private var probed: [ExactString: Result<SourceDescription, SourceProblem>] = [:]
    /// Image sequences by path, frame rate and frame count; several jobs may read one.
    private var sequences: [ExactString: Result<ResolvedInput, SourceProblem>] = [:]
    private var covers: [ExactString: Result<CoverImage, SourceProblem>] = [:]
    private var read: [ExactString: Result<FileContents, SourceProblem>] = [:]
    private var finder: SourceFinder
    /// The job and the output that write each destination of the only job file, for help.
    private lazy var writers: [ExactString: (job: JobSpec, output: OutputSpec)] = {
        guard let file = jobFiles.first, jobFiles.count == 1 else { return [:] }
        let named = file.jobs.flatMap { job in
            job.outputs.compactMap { output in
                output.destination.map { (file.absolutePath($0.path).exact, (job: job, output: output)) }
            }
        }
        return Dictionary(named, uniquingKeysWith: { first, _ in first })
    }()

    /// Creates an empty catalog for the jobs of some files.
    init(
        _ jobFiles: [JobFile], prober: any SourceProber, disk: any DiskQueries = SystemDisk()
    ) {
        (self.jobFiles, self.disk) = (jobFiles, disk)
        fileProber = prober
        packageProber = PackageProber(prober)
        self.prober = packageProber
        finder = SourceFinder(beneath: prober.environment.root, on: disk)
    }

    // MARK: Files

    /// Probes several files in parallel, each once, so that their descriptions are known when their jobs are planned.
    func probe(ahead requests: [SourceRequest]) {
        var seen: Set<ExactString> = []
        let wanted = requests.filter { seen.insert($0.key).inserted }
        // A single source is probed when its job is planned.
        guard wanted.count > 1 else { return }
        let prober = fileProber
        let results = DispatchQueue.concurrentMap(wanted.count) { Self.probe(wanted[$0], prober) }
        for (request, result) in zip(wanted, results) { probed[request.key] = result }
    }

    private static func probe(
        _ request: SourceRequest, _ prober: any SourceProber
    ) -> Result<SourceDescription, SourceProblem> {
        Result { () throws(SourceProblem) in try prober.description(of: request.path, request.timing) }
    }

    /// Returns the description of a file or URL, or of a registered package by its manifest; nil after an error.
    func description(
        of path: String, _ timing: AssetTiming, isPackage: Bool = false, at location: SourceRange,
        into sink: inout DiagnosticSink
    ) -> SourceDescription? {
        let request = SourceRequest(path: path, timing: timing)
        let result: Result<SourceDescription, SourceProblem>
        if isPackage {
            result = probedPackages[request.key] ?? Self.probe(request, packageProber)
            probedPackages[request.key] = result
        } else {
            result = probedFile(request)
        }
        switch result {
        case .success(let description): return description
        case .failure(let error):
            Self.refuse(
                path.pathParts.last ?? path, path, error, at: location,
                help: disk.identity(of: path) == nil
                    ? help(missing: path, at: location) : isPackage ? nil : help(manifest: path),
                into: &sink)
            return nil
        }
    }

    /// Returns a local file as an input; nil after an error.
    func file(
        _ path: String, _ timing: AssetTiming, isPackage: Bool = false, at location: SourceRange,
        into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        guard
            let description = description(
                of: path, timing, isPackage: isPackage, at: location, into: &sink),
            let identity = disk.identity(of: path)
        else { return nil }
        return ResolvedInput(.file(path: path, identity: identity), description)
    }

    /// Returns a package as an input, by the path of its manifest; nil after an error.
    func package(
        _ path: String, _ timing: AssetTiming, at location: SourceRange, into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        let root = prober.environment.root
        let result =
            packages[path.exact]
            ?? Result { () throws(SourceProblem) in try PackageFinder.package(at: path, beneath: root) }
        packages[path.exact] = result
        switch result {
        case .success(let package):
            packageProber.add(package, at: path)
            var input = file(path, timing, isPackage: true, at: location, into: &sink)
            input?.package = package
            return input
        case .failure(let problem):
            Self.refuse(path.pathParts.last ?? path, path, problem, at: location, into: &sink)
            return nil
        }
    }

    // MARK: Images

    /// Returns numbered images as an input; nil after an error.
    func images(
        _ written: Located<String>, of file: JobFile, frameRate: Rational, into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        sequence(written, of: file, into: &sink) { path, finder throws(SourceProblem) in
            try finder.sequence(path, frameRate: frameRate)
        }
    }

    /// Returns an image that is shown for a duration as an input; nil after an error.
    func image(
        _ written: Located<String>, of file: JobFile, duration: MediaTime, frameRate: Rational,
        into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        sequence(written, of: file, into: &sink) { path, _ throws(SourceProblem) in
            ImageSequence(still: path, duration: duration, frameRate: frameRate)
        }
    }

    private func sequence(
        _ written: Located<String>, of file: JobFile, into sink: inout DiagnosticSink,
        find: (String, inout SourceFinder) throws(SourceProblem) -> ImageSequence
    ) -> ResolvedInput? {
        let path = file.absolutePath(written)
        do throws(SourceProblem) {
            let sequence = try find(path, &finder)
            let key = "\(sequence.frameRate) \(sequence.frameCount) \(sequence.path)".exact
            let result = sequences[key] ?? probe(sequence)
            sequences[key] = result
            return try result.get()
        } catch {
            Self.refuse(written.value, path, error, at: written.range, into: &sink)
            return nil
        }
    }

    /// Probes the first image, which describes the whole sequence.
    private func probe(_ sequence: ImageSequence) -> Result<ResolvedInput, SourceProblem> {
        Result { () throws(SourceProblem) in
            let description = try prober.description(of: sequence)
            guard let identity = sequence.filesIdentity(on: disk) else {
                throw SourceProblem("an image doesn't exist, or is not a regular file")
            }
            return ResolvedInput(.images(sequence, identity: identity), description)
        }
    }

    /// Returns the plan of each output's cover; nil for an output without one, or after an error.
    func covers(
        of job: JobSpec, in file: JobFile, into sink: inout DiagnosticSink
    ) -> [CoverPlan?] {
        job.outputs.map { output in
            guard let written = output.media?.metadata.cover else { return nil }
            let path = file.absolutePath(written)
            let result =
                covers[path.exact]
                ?? Result { () throws(SourceProblem) in try prober.cover(of: path) }
            covers[path.exact] = result
            switch result {
            case .success(let image): return CoverPlan(path: path, image: image, location: written.range)
            case .failure(let problem):
                Self.refuse(written.value, path, problem, at: written.range, into: &sink)
                return nil
            }
        }
    }

    // MARK: Subtitle files

    /// Returns size and digest of a file of at most `limit` bytes.
    func contents(of path: String, limit: Int64) throws(SourceProblem) -> FileContents {
        let result =
            read[path.exact]
            ?? Result { () throws(SourceProblem) in try prober.fileContents(of: path, limit: limit) }
        read[path.exact] = result
        return try result.get()
    }

    /// Returns the description of a file, without diagnostics.
    func description(of path: String) throws(SourceProblem) -> SourceDescription {
        try probedFile(SourceRequest(path: path, timing: .fast)).get()
    }

    private func probedFile(_ request: SourceRequest) -> Result<SourceDescription, SourceProblem> {
        let result = probed[request.key] ?? Self.probe(request, fileProber)
        probed[request.key] = result
        return result
    }

    // MARK: Other uses

    /// Absolute paths of the files that all jobs read, each with its first location in a job file.
    var files: [(path: String, location: SourceRange)] { finder.files(of: jobFiles) }

    private static func refuse(
        _ name: String, _ path: String, _ problem: SourceProblem, at location: SourceRange,
        help: String? = nil, into sink: inout DiagnosticSink
    ) {
        sink.error(
            .sourceUnreadable, "\(name): \(problem)", at: location,
            notes: [Diagnostic.Note("the path is \(path)")], help: help)
    }

    /// Returns help for a manifest that is read like a media file; nil for other files.
    private func help(manifest path: String) -> String? {
        guard PackageReader.isManifest(path) else { return nil }
        return "a streaming package is `asset: { playlist: \(path.pathParts.last ?? path) }`"
    }

    /// Returns help for a source that doesn't exist: another job of the only job file writes it, or other tools expand
    /// its name; nil otherwise.
    private func help(missing path: String, at location: SourceRange) -> String? {
        // Help is omitted for a job that reads its own destination.
        if let (job, output) = writers[path.exact], !job.asset.range.contains(location) {
            return
                "the job `\(job.base)` writes this file; `asset: \(job.reference(to: output))` reads it after that job"
        }
        let name = path.pathParts.last ?? path
        if NumberedName(path: path) != nil {
            return "numbered images are `asset: { images: \(name), frame_rate: 25 }`"
        }
        return name.contains("{") && name.contains(",") && name.contains("}")
            ? "braces are expanded only in patterns, which contain `*`, `?` or `[…]`, and in `paths`; use `asset: { paths: [\"\(name)\"] }`"
            : nil
    }
}
