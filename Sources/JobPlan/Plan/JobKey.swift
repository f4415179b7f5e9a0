internal import ExactStrings
package import JobSpec

/// A name of an invocation with several job files, because names are unique only within a file. File names and names
/// are compared by their bytes. `Subject` is what has the name, so that keys of different things can't be confused.
package struct NameInFile<Subject>: Hashable, Sendable {
    private let exactFile: ExactString
    private let exactID: ExactString

    /// Path of the job file, as given by the user.
    package var file: String { exactFile.text }
    /// The name.
    package var id: String { exactID.text }

    package init(file: String, id: String) {
        (exactFile, exactID) = (file.exact, id.exact)
    }
}

extension NameInFile: Comparable {
    package static func < (one: NameInFile, other: NameInFile) -> Bool {
        (one.exactFile, one.exactID) < (other.exactFile, other.exactID)
    }
}

/// Things that have names in job files.
package enum NamedThing {
    package enum JobInstance {}
    package enum Job {}
    package enum Output {}
}

/// The key of a job instance.
package typealias JobKey = NameInFile<NamedThing.JobInstance>
/// The key of a job as it stands in its file, which is that of all its instances.
package typealias WrittenJobKey = NameInFile<NamedThing.Job>
/// The key of an output: the name of its job instance, with the id of the output if the job has several.
package typealias OutputKey = NameInFile<NamedThing.Output>

/// A part of a plan that concerns one job instance.
package protocol PlannedInstance {
    /// Id of the job instance.
    var id: String { get }
    /// Id of the job in the job file.
    var base: String { get }
    /// Path of the job file, as given by the user.
    var file: String { get }
}

extension PlannedInstance {
    package var key: JobKey { JobKey(file: file, id: id) }
    package var writtenKey: WrittenJobKey { WrittenJobKey(file: file, id: base) }
}

extension JobPlan: PlannedInstance {
    /// The job instances whose outputs the job reads.
    package var readKeys: [JobKey] { readJobs.map { JobKey(file: file, id: $0) } }
    /// The jobs that must succeed first.
    package var neededKeys: [WrittenJobKey] { needs.map { WrittenJobKey(file: file, id: $0) } }
}

extension BatchPlan.UpToDateJob: PlannedInstance {}
extension BatchPlan.Skip: PlannedInstance {}
extension BatchPlan.Refusal: PlannedInstance {}

extension JobFile {
    /// Returns the key of a job instance of the file.
    package func key(of job: JobSpec) -> JobKey { JobKey(file: path, id: job.id.value) }
}
