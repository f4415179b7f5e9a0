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

        init?(_ path: String, on disk: any DiskQueries) {
            guard let identity = disk.identity(of: path) else { return nil }
            (device, inode) = (identity.device, identity.inode)
        }
    }

    private var sources: [File: SourceRange] = [:]
    private let jobFiles: Set<File>
    private let disk: any DiskQueries
    /// Paths of sources and job files, with links resolved, and their locations.
    private var readPaths: [(path: String, place: SourceRange?)] = []

    /// Creates a check. `sources` are the files that the jobs read, with their locations in the job files.
    init(
        _ files: [JobFile], sources: [(path: String, place: SourceRange)], on disk: any DiskQueries
    ) {
        self.disk = disk
        for (path, location) in sources {
            guard let file = File(path, on: disk) else { continue }
            self.sources[file] = self.sources[file] ?? location
        }
        jobFiles = Set(files.compactMap { File($0.path, on: disk) })
        guard files.contains(where: { $0.jobs.contains { $0.outputs.contains { $0.package != nil } } }) else {
            return
        }
        readPaths = sources.compactMap { source in disk.realPath(of: source.path).map { ($0, source.place) } }
        readPaths += files.compactMap { file in disk.realPath(of: file.path).map { ($0, nil) } }
    }

    /// Returns the errors of all jobs of some files. `images` are the files whose names depend on sources.
    func errors(
        _ files: [JobFile], images: [ImageOutputFiles], _ destinations: inout DestinationTable
    ) -> DiagnosticSink {
        var sink = DiagnosticSink()
        for file in files {
            for written in file.jobs.flatMap(\.outputs).compactMap(\.destination?.path) {
                check(file.absolutePath(written), at: written.range, &destinations, into: &sink)
            }
            for output in file.jobs.flatMap(\.outputs) where output.package != nil {
                guard let written = output.destination?.path else { continue }
                checkFolder(file.absolutePath(written), at: written.range, &destinations, into: &sink)
            }
            for output in images where output.job.file.exact == file.path.exact {
                for path in output.paths { check(path, at: output.location, &destinations, into: &sink) }
            }
        }
        return sink
    }

    /// Reports a folder that contains a source or a job file: replacing the folder would remove it.
    private func checkFolder(
        _ destination: String, at location: SourceRange, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink
    ) {
        guard let folder = destinations.resolve(destination)?.path,
            let inside = readPaths.first(where: { $0.path.hasExactPrefix(folder + "/") })
        else { return }
        sink.error(
            .destinationIsSource,
            "the folder \(folder) contains \(inside.place == nil ? "a job file" : "a source"), and would be replaced: \(inside.path)",
            at: location, notes: inside.place.map { [Diagnostic.Note("the source is here", at: $0)] } ?? [])
    }

    private func check(
        _ destination: String, at location: SourceRange, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink
    ) {
        guard let path = destinations.resolve(destination)?.path, let file = File(path, on: disk) else {
            return
        }
        if jobFiles.contains(file) {
            sink.error(.destinationIsSource, "the destination is a job file: \(path)", at: location)
        }
        guard let source = sources[file] else { return }
        sink.error(
            .destinationIsSource,
            "the destination is also a source, which is never overwritten: \(path)",
            at: location, notes: [Diagnostic.Note("the source is here", at: source)],
            help: disk.mark(at: path) == nil
                ? nil
                : "the file is an output of an earlier run; use a pattern that doesn't match outputs, or `asset: { job: NAME }` to read the output of another job"
        )
    }
}
