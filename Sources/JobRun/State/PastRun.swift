/// A run of the past.
public struct PastRun: Codable, Sendable {
    /// Its number in its folder.
    public var number: Int64
    /// Seconds since 1970.
    public var begun: Double
    /// Seconds since 1970; nil where it died.
    public var ended: Double?
    /// The job files.
    public var files: String
    /// Jobs that were done.
    public var done: Int
    /// Jobs whose outputs were up to date.
    public var current: Int
    /// Jobs that failed.
    public var failed: Int
    /// `succeeded`, `failed`, `interrupted`, `running`, or `died`.
    public var status: String

    /// A job that did not go well.
    public struct Attempt: Codable, Sendable {
        /// The job file.
        public var file: String
        /// The job's id.
        public var job: String
        /// How it ended.
        public var outcome: String
        /// Why.
        public var message: String
        /// How long it took.
        public var seconds: Double
    }
}
