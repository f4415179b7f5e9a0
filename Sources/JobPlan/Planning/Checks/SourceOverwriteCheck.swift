internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import JobSpec
internal import Publishing

/// The check for destinations that are sources or job files, compared by device and inode.
struct SourceOverwriteCheck {
    private struct File: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ identity: FileIdentity) { (device, inode) = (identity.device, identity.inode) }
    }

    private var sources: [File: SourceRange] = [:]
    /// Sources of other jobs than those of the plan. An output of an earlier run among them may be replaced.
    private var others: [File: SourceRange] = [:]
    private let jobFiles: Set<File>
    private let disk: any DiskQueries
    private let owns: (String) -> Bool
    /// Identities that were read before, by path.
    private let known: [ExactString: FileIdentity]
    /// Paths of sources and job files, with links resolved, and their locations.
    private var readPaths: [(path: String, location: SourceRange?, isOther: Bool)] = []

    /// Returns whether the check reports a destination, which is an absolute path with links resolved.
    func reports(_ path: String) -> Bool {
        guard let file = identified(path) else { return false }
        return source(file, at: path) != nil || jobFiles.contains(file)
    }

    /// Returns the location of a source that must not be overwritten; nil for other files.
    private func source(_ file: File, at path: String) -> SourceRange? {
        if let own = sources[file] { return own }
        return others[file].flatMap { disk.mark(at: path) != nil || owns(path) ? nil : $0 }
    }

    /// Creates a check. `sources` are the files that the jobs read, with their locations in the job files, and `others` those of
    /// jobs that aren't part of the plan; `known` are identities that need not be read. `owns` returns whether a file or folder is an
    /// output of an earlier run, although it has no mark.
    init(
        _ files: [JobFile], sources: [(path: String, location: SourceRange)],
        others: [(path: String, location: SourceRange)] = [],
        known: [ExactString: FileIdentity] = [:], owns: @escaping (String) -> Bool = { _ in false },
        on disk: any DiskQueries
    ) {
        (self.disk, self.known, self.owns) = (disk, known, owns)
        jobFiles = Set(files.compactMap { Self.identified($0.path, known, disk) })
        for (path, location) in sources {
            guard let file = Self.identified(path, known, disk) else { continue }
            self.sources[file] = self.sources[file] ?? location
        }
        let own = Set(sources.map(\.path.exact))
        let others = others.filter { !own.contains($0.path.exact) }
        for (path, location) in others {
            if let file = Self.identified(path, known, disk) { self.others[file] = location }
        }
        guard files.contains(where: { $0.jobs.contains { $0.outputs.contains(where: \.isFolder) } }) else {
            return
        }
        func add(_ path: String, _ location: SourceRange?, isOther: Bool = false) {
            if let path = disk.realPath(of: path) { readPaths.append((path, location, isOther)) }
        }
        for source in sources { add(source.path, source.location) }
        for source in others { add(source.path, source.location, isOther: true) }
        for file in files { add(file.path, nil) }
    }

    private func identified(_ path: String) -> File? { Self.identified(path, known, disk) }

    private static func identified(
        _ path: String, _ known: [ExactString: FileIdentity], _ disk: any DiskQueries
    ) -> File? {
        (known[path.exact] ?? disk.identity(of: path)).map(File.init)
    }

    /// Returns the errors of all jobs of some files, and the jobs that they concern. `images` are the files whose names depend on
    /// sources.
    func errors(
        _ files: [JobFile], images: [ImageOutputFiles], _ destinations: inout DestinationTable
    ) -> (sink: DiagnosticSink, jobs: Set<JobKey>) {
        var (all, jobs) = (DiagnosticSink(), Set<JobKey>())
        let subtitles = files.flatMap { file in
            file.jobs.flatMap(\.subtitleFiles).map { (file.absolutePath($0.path), $0.path.range) }
        }
        let (missing, locations) = (missing(subtitles, &destinations), Set(subtitles.map(\.1)))
        /// Adds the errors of a job's output.
        func add(_ key: @autoclosure () -> JobKey, _ check: (inout DiagnosticSink) -> Void) {
            var sink = DiagnosticSink()
            check(&sink)
            guard sink.hasErrors else { return }
            all.add(sink)
            jobs.insert(key())
        }
        for file in files {
            for job in file.jobs {
                for output in job.outputs where !output.isUndivided {
                    guard let written = output.destination?.path else { continue }
                    add(file.key(of: job)) { sink in
                        check(
                            file.absolutePath(written), at: written.range, &destinations, into: &sink, missing
                        ) { path, source in
                            // Only assets can be outputs of other jobs.
                            locations.contains(source)
                                ? nil : help(for: output, of: job, in: file, at: path, of: files.count)
                        }
                    }
                }
            }
            for job in file.jobs {
                for output in job.outputs where output.isFolder {
                    guard let written = output.destination?.path else { continue }
                    add(file.key(of: job)) { sink in
                        checkFolder(
                            file.absolutePath(written), at: written.range, &destinations, into: &sink)
                    }
                }
            }
            for output in images where output.job.file.exact == file.path.exact {
                for path in output.paths {
                    add(output.job) { sink in
                        check(path, at: output.location, &destinations, into: &sink, missing) { _, _ in nil }
                    }
                }
            }
        }
        return (all, jobs)
    }

    /// Returns the resolved paths of subtitle files that don't exist, which optional rules may name, with their locations.
    private func missing(
        _ files: [(path: String, location: SourceRange)], _ destinations: inout DestinationTable
    ) -> [ExactString: SourceRange] {
        var missing: [ExactString: SourceRange] = [:]
        for (path, location) in files where identified(path) == nil {
            guard let resolved = destinations.resolve(path)?.path.exact else { continue }
            missing[resolved] = missing[resolved] ?? location
        }
        return missing
    }

    /// Reports a folder that contains a source or a job file: replacing the folder would remove it.
    private func checkFolder(
        _ destination: String, at location: SourceRange, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink
    ) {
        guard let folder = destinations.resolve(destination)?.path,
            let inside = readPaths.first(where: {
                $0.path.hasExactPrefix(folder + "/")
                    && !($0.isOther && (disk.isMarked(folder) || owns(folder)))
            })
        else { return }
        sink.error(
            .destinationIsSource,
            "the folder \(folder) contains \(inside.location == nil ? "a job file" : "a source"), and would be replaced: \(inside.path)",
            at: location, notes: inside.location.map { [Diagnostic.Note("the source is here", at: $0)] } ?? []
        )
    }

    private func check(
        _ destination: String, at location: SourceRange, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink, _ missing: [ExactString: SourceRange],
        help: (_ path: String, _ source: SourceRange) -> String?
    ) {
        guard let path = destinations.resolve(destination)?.path else { return }
        guard let file = identified(path) else {
            // The next run would find the file.
            guard let source = missing[path.exact] else { return }
            sink.error(
                .destinationIsSource, "the destination is also a source, which is never overwritten: \(path)",
                at: location, notes: [Diagnostic.Note("the source is here", at: source)])
            return
        }
        if jobFiles.contains(file) {
            sink.error(.destinationIsSource, "the destination is a job file: \(path)", at: location)
        }
        guard let source = source(file, at: path) else { return }
        sink.error(
            .destinationIsSource,
            "the destination is also a source, which is never overwritten: \(path)",
            at: location, notes: [Diagnostic.Note("the source is here", at: source)], help: help(path, source)
        )
    }

    /// Returns help for a destination that another job reads by its path, or that a pattern matches: the file is an
    /// output of an earlier run. Nil for other files, and if the job reads its own destination.
    private func help(
        for output: OutputSpec, of job: JobSpec, in file: JobFile, at path: String, of fileCount: Int
    ) -> String? {
        guard disk.mark(at: path) != nil, let destination = identified(path) else { return nil }
        let isOwn = job.asset.parts.contains { part in
            guard case .file(let written) = part.source else { return false }
            return identified(file.absolutePath(written)) == destination
        }
        if isOwn { return nil }
        // A job can't read outputs of another file's jobs.
        return fileCount == 1
            ? "the file is an output of an earlier run; read it by `asset: \(job.reference(to: output))`, and exclude outputs from patterns"
            : "the file is an output of an earlier run; exclude outputs from patterns, and read the output of a job of the same file by `asset: { job: NAME }`"
    }
}

extension JobSpec {
    /// Returns the asset that refers to an output of the job, as written in a job file.
    func reference(to output: OutputSpec) -> String {
        "{ job: \(base)" + (output.id.map { ", output: \($0.value)" } ?? "") + " }"
    }
}
