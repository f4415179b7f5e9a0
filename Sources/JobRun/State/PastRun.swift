/// An earlier run, as the state recorded it.
package struct PastRun: Codable, Sendable {
    /// Number of the run in its state folder.
    package var number: Int64
    /// Seconds since 1970.
    package var begun: Double
    /// Seconds since 1970; nil if the run died.
    package var ended: Double?
    /// Names of the job files, separated by spaces.
    package var files: String
    /// Number of jobs that were done.
    package var done: Int
    /// Number of jobs whose outputs were up to date.
    package var current: Int
    /// Number of jobs that failed.
    package var failed: Int
    /// `succeeded`, `failed`, `interrupted`, `running`, or `died`.
    package var status: String

    /// A job that did not succeed, or whose output has warnings.
    package struct Attempt: Codable, Sendable {
        /// The job file.
        package var file: String
        /// The job's id.
        package var job: String
        /// Outcome as one word, such as `failed` or `warned`.
        package var outcome: String
        /// The reason, or the warnings.
        package var message: String
        /// Seconds that the job took.
        package var seconds: Double
    }
}
