internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import Publishing

/// The check for outputs with the same destination, with symbolic links resolved, and for destinations inside the
/// destination of another output.
struct CollisionCheck {
    /// The output that has a destination.
    private struct Owner {
        let location: SourceRange
        let job: JobKey
        let name: String
    }

    private var owners: [DestinationPath: Owner] = [:]
    /// Owners of destinations and of image files.
    private var all: [DestinationPath: Owner] = [:]
    private var sink = DiagnosticSink()
    private var jobs: Set<JobKey> = []

    /// Returns the errors of all jobs of some files, and the jobs that they concern. `images` are the files whose names depend on
    /// sources. `others` are the paths of outputs of jobs that aren't in the files, which belong to these.
    static func errors(
        _ files: [JobFile], images: [ImageOutputFiles], others: [ExactString: JobKey] = [:],
        _ destinations: inout DestinationTable
    ) -> (sink: DiagnosticSink, jobs: Set<JobKey>) {
        var check = CollisionCheck()
        for file in files {
            for job in file.jobs { check.add(job, of: file, &destinations) }
        }
        check.check(images, &destinations)
        check.checkNesting()
        check.check(others)
        return (check.sink, check.jobs)
    }

    /// Adds the destinations that a job file states.
    private mutating func add(_ job: JobSpec, of file: JobFile, _ destinations: inout DestinationTable) {
        let key = file.key(of: job)
        for output in job.outputs where !output.isUndivided {
            let name = OutputName(job: job.id.value, output: output.id?.value).description
            guard let written = output.destination?.path,
                let path = destinations.resolve(file.absolutePath(written))
            else { continue }
            let own = Owner(location: written.range, job: key, name: name)
            guard let earlier = owners[path] else {
                owners[path] = own
                continue
            }
            jobs.formUnion([earlier.job, key])
            let isOneJob = earlier.job == key
            let things = isOneJob ? "outputs" : "jobs"
            let isOneText = earlier.location == own.location
            let pathHelp =
                isOneJob
                ? output.division == nil
                    ? "use `${output}` in the path" : "use `${track.index}` in the path"
                : "use a variable in the path that differs between the job instances, such as `${asset.ext}`, `${asset.dir}`, `${matrix.…}` or `${index}`"
            sink.error(
                .destinationCollision, "two \(things) have the destination \(path.path)", at: own.location,
                notes: [
                    isOneText
                        ? Diagnostic.Note("the \(things) are \(earlier.name) and \(name)")
                        : Diagnostic.Note("the other destination is here", at: earlier.location)
                ],
                help: isOneText ? pathHelp : nil)
        }
    }

    /// Reports collisions of image files with each other and with destinations that job files state.
    private mutating func check(_ images: [ImageOutputFiles], _ destinations: inout DestinationTable) {
        var owners = owners
        for output in images {
            for file in output.paths {
                guard let path = destinations.resolve(file) else { continue }
                guard let earlier = owners[path] else {
                    owners[path] = Owner(location: output.location, job: output.job, name: output.name)
                    continue
                }
                if earlier.job == output.job, earlier.name == output.name { continue }
                jobs.formUnion([earlier.job, output.job])
                sink.error(
                    .destinationCollision, "two outputs have the destination \(path.path)",
                    at: output.location,
                    notes: [
                        Diagnostic.Note(
                            "the other destination, of \(earlier.name), is here", at: earlier.location)
                    ])
                break
            }
        }
        all = owners
    }

    /// Reports destinations that are outputs of other jobs.
    private mutating func check(_ others: [ExactString: JobKey]) {
        if others.isEmpty { return }
        for (path, own) in all.sorted(by: { $0.value.location < $1.value.location }) {
            guard let other = others[path.path.exact], other != own.job else { continue }
            jobs.insert(own.job)
            sink.error(
                .destinationCollision, "two jobs have the destination \(path.path)", at: own.location,
                notes: [Diagnostic.Note("the jobs are \(other.id) and \(own.name)")])
        }
    }

    /// Reports destinations that lie inside the destination of another output.
    private mutating func checkNesting() {
        let files = Dictionary(
            owners.map { ($0.key.path.exact, $0.value) }, uniquingKeysWith: { first, _ in first })
        for (path, output) in owners.sorted(by: { $0.value.location < $1.value.location }) {
            var folder = ""
            for part in path.path.pathParts.dropLast() {
                folder += "/" + part
                guard let other = files[folder.exact] else { continue }
                jobs.formUnion([other.job, output.job])
                sink.error(
                    .destinationCollision,
                    "the destination \(path.path) is inside \(folder), which is the output file of \(other.name)",
                    at: output.location,
                    notes: [Diagnostic.Note("that destination is here", at: other.location)])
                break
            }
        }
    }
}
