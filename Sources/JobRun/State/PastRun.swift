/// An earlier run, as recorded in the state.
package struct PastRun: Codable, Sendable {
    /// Number of the run in its state folder.
    package var number: Int64
    /// Start of the run, in seconds since 1970.
    package var begun: Double
    /// End of the run, in seconds since 1970; nil if the run is in progress or was killed.
    package var ended: Double?
    /// Names of the job files, relative to the parent of the state folder; paths of files elsewhere.
    package var files: [String]
    /// Number of jobs that succeeded or were skipped.
    package var done: Int
    /// Number of jobs whose outputs were up to date.
    package var current: Int
    /// Number of jobs that failed, were cancelled or were not run.
    package var failed: Int
    package var status: Status

    /// The status of an earlier run.
    package enum Status: String, Codable, Sendable {
        case succeeded
        case failed
        /// A signal ended the run.
        case interrupted
        /// The run is in progress.
        case running
        /// The run ended without recording its status, or recorded one that this version doesn't know.
        case died
    }

    /// A job that did not succeed, or whose outputs have warnings.
    package struct Attempt: Codable, Sendable {
        /// Name of the job file.
        package var file: String
        package var job: String
        package var outcome: Outcome
        /// Reason for the outcome, or the warnings.
        package var message: String
        /// Wall-clock duration of the job in seconds.
        package var seconds: Double

        /// The outcome, as the word in the state and in the history.
        package enum Outcome: String, Codable, Sendable {
            case failed
            case cancelled
            case notRun = "not run"
            /// The outputs were created, and have warnings.
            case warned
            /// The state contains no outcome, or one that this version doesn't know.
            case unknown
        }
    }
}
