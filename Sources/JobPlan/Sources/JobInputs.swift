internal import Diagnostics
internal import ExactStrings
package import FileSystem
package import JobSpec
package import Publishing

/// The job instances of some job files, with the local files that they read. No source is opened, so that sources which are
/// incomplete are listed too.
package struct JobInputs: Sendable {
    /// A file that a job reads.
    package struct File: Sendable {
        /// Absolute path.
        package let path: String
        /// Whether the job runs without the file.
        package let isOptional: Bool

        package init(path: String, isOptional: Bool = false) {
            (self.path, self.isOptional) = (path, isOptional)
        }
    }

    /// A job instance.
    package struct Job: Sendable {
        package let key: JobKey
        package let files: [File]
        /// The jobs that must be done before: those whose outputs it reads, and those that it needs.
        package let prerequisites: [JobKey]

        package init(key: JobKey, files: [File], prerequisites: [JobKey] = []) {
            (self.key, self.files, self.prerequisites) = (key, files, prerequisites)
        }
    }

    /// Job instances, in the order of the job files.
    package private(set) var jobs: [Job] = []
    /// The first problem of each job whose patterns match no file, or cover one that can't be used. The other files of a job are
    /// in its instances.
    package private(set) var problems: [(key: JobKey, message: String)] = []

    /// Creates a list of known jobs.
    package init(jobs: [Job], problems: [(key: JobKey, message: String)] = []) {
        (self.jobs, self.problems) = (jobs, problems)
    }

    /// Lists the jobs of some files, whose patterns are matched with files beneath `root`.
    package init(_ files: [JobFile], beneath root: PathRoot, on disk: any DiskQueries = SystemDisk()) {
        var sink = DiagnosticSink()
        let expanded = files.map { $0.expanded(into: &sink, beneath: root, on: disk) }
        for refusal in PatternCheck.refusals(sink, of: files, only: []) {
            guard let first = refusal.diagnostics.first(where: { $0.severity == .error }) else { continue }
            problems.append((refusal.key, first.message))
        }
        var finder = SourceFinder(beneath: root, on: disk)
        for file in expanded {
            let instances = JobInstances(file.jobs)
            // Each instance reads the files of its group, with which it shares a gain.
            var shared: [SharingGroup: [File]] = [:]
            let own = file.jobs.map { Self.files(of: $0, in: file, &finder) }
            for (job, files) in zip(file.jobs, own) {
                if let group = SharingGroup(job) { shared[group, default: []] += files }
            }
            for (job, files) in zip(file.jobs, own) {
                jobs.append(
                    Job(
                        key: file.key(of: job),
                        files: SharingGroup(job).flatMap { shared[$0] } ?? files,
                        prerequisites: instances.required(by: job).map { JobKey(file: file.path, id: $0) }))
            }
        }
    }

    /// The instances of a job with the same `group`, if they share the gain of a normalization.
    private struct SharingGroup: Hashable {
        let job: ExactString
        let name: ExactString?

        init?(_ job: JobSpec) {
            guard job.sharedNormalization != nil else { return nil }
            (self.job, name) = (job.base.exact, job.group?.value.exact)
        }
    }

    private static func files(
        of job: JobSpec, in file: JobFile, _ finder: inout SourceFinder
    ) -> [File] {
        var files: [File] = []
        for part in job.asset.parts {
            guard let written = part.path else { continue }
            let path = file.absolutePath(written)
            let found = finder.files(of: part.source, at: path)
            // A sequence without an image is a missing file.
            files += (found.isEmpty ? [path] : found).map { File(path: $0) }
        }
        return files
            + job.addedFiles.map { File(path: file.absolutePath($0.path), isOptional: $0.isOptional) }
    }
}
