/// What names a job among all files of a call: ids are unique within one file only.
public struct JobKey: Hashable, Sendable {
    /// The job file as the user named it.
    public let file: String
    /// The job's id: the run's full one, or the one that the file has.
    public let id: String

    /// Names a job.
    public init(file: String, id: String) {
        self.file = file
        self.id = id
    }
}
