internal import JobPlan
internal import Locking
internal import Publishing

/// The settings of a batch run.
package struct RunPolicy: Sendable {
    package var budget: ResourceBudget
    /// Whether an output that fails its expectations is kept under another name, such as `web.failed.mp4`.
    package var keepsFailed = false
    /// Whether no further jobs start after the first failure.
    package var failsFast = false
    /// Maximum number of outputs with a preview in the report. Creating a preview takes time and memory.
    package var maxPreviews = 0

    /// Folder of the encoders' two-pass statistics: the state folder, or the system's temporary folder. Its free space
    /// is checked like that of destinations; nil disables the check.
    package var passStatisticsFolder: String? = PassFiles.base.withLock { $0 }

    /// Function that returns the free space at a destination; nil if it can't be determined.
    package var freeSpace: @Sendable (_ destination: String) -> FreeSpace? = RunPolicy.freeSpace

    /// A number of bytes on a file system: free space, or the size of an output.
    package struct FreeSpace: Sendable {
        /// Device id of the file system.
        package var fileSystem: UInt64
        package var bytes: Int64
        package init(fileSystem: UInt64, bytes: Int64) {
            self.fileSystem = fileSystem
            self.bytes = bytes
        }
    }

    /// Returns the free space of a destination's file system (`fstatvfs`); nil if it can't be determined.
    package static func freeSpace(_ destination: String) -> FreeSpace? {
        guard let path = DestinationPath(destination),
            let bytes = SystemDisk().freeSpace(in: path.existingFolder)
        else { return nil }
        return FreeSpace(fileSystem: path.fileSystem, bytes: bytes)
    }

    /// Creates a policy with default settings.
    package init(budget: ResourceBudget = .ofThisMachine()) { self.budget = budget }
}
