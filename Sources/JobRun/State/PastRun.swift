/// A run of the past.
package struct PastRun: Codable, Sendable {
    /// Its number in its folder.
    package var number: Int64
    /// Seconds since 1970.
    package var begun: Double
    /// Seconds since 1970; nil where it died.
    package var ended: Double?
    /// The job files.
    package var files: String
    /// Jobs that were done.
    package var done: Int
    /// Jobs whose outputs were up to date.
    package var current: Int
    /// Jobs that failed.
    package var failed: Int
    /// `succeeded`, `failed`, `interrupted`, `running`, or `died`.
    package var status: String

    /// A job that did not go well.
    package struct Attempt: Codable, Sendable {
        /// The job file.
        package var file: String
        /// The job's id.
        package var job: String
        /// How it ended.
        package var outcome: String
        /// Why.
        package var message: String
        /// How long it took.
        package var seconds: Double
    }
}
