internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import FileSystem
internal import Publishing

extension BatchPlanner {
    /// Reports errors of a single destination: outside of the root, occupied, or not writable.
    func checkDestination(
        _ destination: DestinationPath, as written: DestinationSpec, in file: String,
        into sink: inout DiagnosticSink
    ) {
        let location = written.path.range
        let owner = memory.owner(ofFile: file, at: destination.path)
        let root = prober.environment.root
        if !root.contains(destination.path) {
            sink.error(
                .destinationUnwritable,
                "the destination \(destination.path) is outside of the `--root` \(root.path ?? "")",
                at: location)
            return
        }
        if destination.path.pathParts.dropLast().contains(".tandem") {
            sink.error(
                .destinationUnwritable,
                "the destination \(destination.path) is inside a `.tandem` folder, which is reserved for the state of job files",
                at: location)
            return
        }
        switch DestinationPath.occupant(of: destination.path, owner: owner) {
        case .nothing, .published: break
        case .notAFile:
            sink.error(
                .destinationExists, "the destination \(destination.path) is not a regular file",
                at: location)
        case .foreign:
            // A file that another job file published may equal the requested output; `checkOwner` decides once the
            // plan is known.
            if DestinationPath.mark(at: destination.path) == nil {
                refuse(destination, written, of: file, into: &sink)
            }
        }
        if !destination.missing.dropLast().isEmpty, !written.makesDirectories {
            sink.error(
                .destinationUnwritable,
                "the folder \(destination.folder) doesn't exist, and `make_directories` is false",
                at: location)
        } else if !destination.isFolderWritable {
            sink.error(
                .destinationUnwritable, "the folder \(destination.existingFolder) is not writable",
                at: location
            )
        }
    }

    /// Reports an error if another job file published the destination, unless with the same plan.
    func checkOwner(
        _ task: OutputTask, _ destination: DestinationPath, as written: DestinationSpec,
        into sink: inout DiagnosticSink
    ) {
        let owner = memory.owner(ofFile: task.file, at: destination.path)
        guard let owner, let mark = DestinationPath.mark(at: destination.path), mark.owner != owner,
            !memory.wasCreated(by: task)
        else { return }
        refuse(destination, written, of: task.file, into: &sink)
    }

    private func refuse(
        _ destination: DestinationPath, _ written: DestinationSpec, of file: String,
        into sink: inout DiagnosticSink
    ) {
        guard written.ifExists == .fail, !memory.owns(destination.path, for: file) else { return }
        sink.error(
            .destinationExists, "\(DestinationPath.foreign(at: destination.path)): \(destination.path)",
            at: written.path.range,
            help: "`destination: { path: …, if_exists: replace }` replaces it, `skip` keeps it")
    }

    /// Reports outputs with the same destination, with symbolic links resolved.
    mutating func checkCollisions(into sink: inout DiagnosticSink) {
        var first: [DestinationPath: (location: SourceRange, job: JobKey, name: String)] = [:]
        for file in files {
            for job in file.jobs {
                for output in job.outputs {
                    let name = OutputTask.name(job: job.id.value, output: output.id?.value)
                    guard let written = output.destination?.path,
                        let path = destinations.resolve(file.absolutePath(written))
                    else { continue }
                    let location = written.range
                    guard let earlier = first[path] else {
                        first[path] = (location, JobKey(file: file.path, id: job.id.value), name)
                        continue
                    }
                    let isOneJob = earlier.job == JobKey(file: file.path, id: job.id.value)
                    let pathHelp =
                        isOneJob
                        ? "use `${output}` in the path"
                        : "use a variable in the path that differs between the job instances, such as `${asset.ext}`, `${asset.dir}`, `${matrix.…}` or `${index}`"
                    sink.error(
                        .destinationCollision,
                        "two \(isOneJob ? "outputs" : "jobs") have the destination \(path.path)",
                        at: location,
                        notes: earlier.location == location
                            ? [
                                Diagnostic.Note(
                                    "the \(isOneJob ? "outputs" : "jobs") are \(earlier.name) and \(name)")
                            ]
                            : [Diagnostic.Note("the other destination is here", at: earlier.location)],
                        help: earlier.location == location ? pathHelp : nil)
                }
            }
        }
        checkImageFiles(first, into: &sink)
        checkNesting(first, into: &sink)
    }

    /// Reports collisions of still image files, whose names are known only after planning. `written` contains the
    /// destinations in the job files, which are already compared with each other.
    private mutating func checkImageFiles(
        _ written: [DestinationPath: (location: SourceRange, job: JobKey, name: String)],
        into sink: inout DiagnosticSink
    ) {
        var first = written
        for (job, name, location, files) in stills {
            for file in files {
                guard let path = destinations.resolve(file) else { continue }
                guard let earlier = first[path] else {
                    first[path] = (location, job, name)
                    continue
                }
                if earlier.job == job, earlier.name == name { continue }
                sink.error(
                    .destinationCollision, "two outputs have the destination \(path.path)", at: location,
                    notes: [
                        Diagnostic.Note(
                            "the other destination, of \(earlier.name), is here", at: earlier.location)
                    ])
                break
            }
        }
    }

    /// The files of image outputs whose names depend on their source, including those that are up to date. A sheet's
    /// destination is in the job file, so it is omitted.
    private var stills: [(job: JobKey, name: String, location: SourceRange, files: [String])] {
        let planned = order.flatMap(\.tasks).filter(\.output.hasSeveralFiles).map { task in
            let files = task.output.files
            return (
                JobKey(file: task.file, id: task.job), task.name, task.output.destinationLocation,
                task.output.images?.sheet == nil ? files : Array(files.dropFirst())
            )
        }
        var kept: [(JobKey, String, SourceRange, [String])] = []
        for (key, job) in upToDateJobs {
            for output in job.outputs {
                guard let position = positions[key],
                    let spec = files[key.file].jobs[position].output(output.id),
                    let location = spec.destination?.path.range,
                    spec.namesEachImage || output.others != nil
                else { continue }
                kept.append(
                    (
                        JobKey(file: job.file, id: job.id),
                        OutputTask.name(job: job.id, output: output.id), location,
                        spec.namesEachImage ? output.files : output.others ?? []
                    ))
            }
        }
        return planned + kept.sorted { $0.2 < $1.2 }
    }

    /// Reports destinations that are inside the destination of another output.
    private func checkNesting(
        _ outputs: [DestinationPath: (location: SourceRange, job: JobKey, name: String)],
        into sink: inout DiagnosticSink
    ) {
        let names = Dictionary(
            outputs.map { ($0.key.path.exact, $0.value) }, uniquingKeysWith: { first, _ in first })
        for (path, output) in outputs.sorted(by: { $0.value.location < $1.value.location }) {
            var folder = ""
            for part in path.path.pathParts.dropLast() {
                folder += "/" + part
                guard let other = names[folder.exact] else { continue }
                sink.error(
                    .destinationCollision,
                    "the destination \(path.path) is inside \(folder), which is the output file of \(other.name)",
                    at: output.location,
                    notes: [Diagnostic.Note("that destination is here", at: other.location)])
                break
            }
        }
    }

    /// Warns if a file system has less free space than its outputs need together, as far as their sizes are
    /// predicted.
    mutating func checkSpace() {
        var needed: [UInt64: (bytes: Int64, path: DestinationPath, location: SourceRange)] = [:]
        for output in order.flatMap(\.outputs) {
            guard let size = output.expectedSize, let destination = output.destination,
                let path = destinations.resolve(destination)
            else { continue }
            let bytes = (needed[path.fileSystem]?.bytes ?? 0) &+ size
            needed[path.fileSystem] = (
                bytes, path, needed[path.fileSystem]?.location ?? output.destinationLocation
            )
        }
        for (bytes, path, location) in needed.values.sorted(by: { $0.location < $1.location }) {
            guard let free = path.freeSpace, bytes > free else { continue }
            diagnostics.warning(
                .lowSpace,
                "the estimated size of the outputs is \(PlanText.bytes(bytes)), but only \(PlanText.bytes(free)) are free in \(path.folder)",
                at: location)
        }
    }

    /// Returns the files of image outputs, each at the source location of its destination.
    private func named(in file: JobFile) -> [Located<String>] {
        stills.filter { $0.job.file.exact == file.path.exact }
            .flatMap { output in output.files.map { Located($0, at: output.location) } }
    }

    /// Reports destinations that are sources or job files, compared by device and inode.
    mutating func checkSources(into sink: inout DiagnosticSink) {
        var byFile: [[UInt64]: SourceRange] = [:]
        for (path, location) in finder.files(of: files) {
            guard let identity = FileIdentity(path: path) else { continue }
            let key = [identity.device, identity.inode]
            byFile[key] = byFile[key] ?? location
        }
        let jobFiles = Set(
            files.compactMap { FileIdentity(path: $0.path).map { [$0.device, $0.inode] } })
        for file in files {
            for written in file.jobs.flatMap(\.outputs).compactMap(\.destination?.path) + named(in: file) {
                guard let path = destinations.resolve(file.absolutePath(written)),
                    let identity = FileIdentity(path: path.path)
                else { continue }
                if jobFiles.contains([identity.device, identity.inode]) {
                    sink.error(
                        .destinationIsSource, "the destination is a job file: \(path.path)",
                        at: written.range)
                }
                guard let location = byFile[[identity.device, identity.inode]] else { continue }
                sink.error(
                    .destinationIsSource,
                    "the destination is also a source, which is never overwritten: \(path.path)",
                    at: written.range, notes: [Diagnostic.Note("the source is here", at: location)],
                    help: DestinationPath.mark(at: path.path) == nil
                        ? nil
                        : "the file is an output of an earlier run; use a pattern that doesn't match outputs, or `asset: { job: NAME }` to read the output of another job"
                )
            }
        }
    }
}
