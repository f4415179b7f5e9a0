internal import JobPlan
internal import Locking
internal import Publishing

/// The settings with which a batch is run.
package struct RunPolicy: Sendable {
    /// Resources of the machine that the batch may use.
    package var budget: ResourceBudget
    /// Whether an output that fails its expectations is kept, as `web.failed.mp4`.
    package var keepsFailed = false
    /// Whether no further jobs start after the first failure.
    package var failsFast = false
    /// Maximum number of finished outputs with a preview in the report. A preview takes time and memory.
    package var maxPreviews = 0

    /// Folder of the encoders' two-pass statistics: the state's folder, or the folder of temporary files. Free space
    /// is checked there as at destinations; nil disables the check.
    package var passStatisticsFolder: String? = PassFiles.base.withLock { $0 }

    /// Function that returns the free space at a destination; nil if it can't be determined.
    package var freeSpace: @Sendable (_ destination: String) -> FreeSpace? = RunPolicy.freeSpace

    /// Bytes on a file system: free ones, or those that an output fills.
    package struct FreeSpace: Sendable {
        /// Identifier of the file system.
        package var fileSystem: UInt64
        /// Number of bytes.
        package var bytes: Int64
        package init(fileSystem: UInt64, bytes: Int64) {
            self.fileSystem = fileSystem
            self.bytes = bytes
        }
    }

    /// Returns the free space that the system reports; nil if it can't be determined.
    package static func freeSpace(_ destination: String) -> FreeSpace? {
        guard let path = DestinationPath(destination), let bytes = path.freeSpace else { return nil }
        return FreeSpace(fileSystem: path.fileSystem, bytes: bytes)
    }

    /// Creates a policy. By default a batch may use the whole machine.
    package init(budget: ResourceBudget = .ofThisMachine()) { self.budget = budget }
}
