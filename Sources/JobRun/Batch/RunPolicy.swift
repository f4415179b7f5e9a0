internal import JobPlan
internal import Locking
internal import Publishing

/// How a batch is carried out.
package struct RunPolicy: Sendable {
    /// What of the machine it may use.
    package var budget: ResourceBudget
    /// An output that fails its expectations stays, as `web.failed.mp4`.
    package var keepsFailed = false
    /// After the first failure nothing more is started.
    package var failsFast = false
    /// How many finished outputs are looked at for a report's frames: each takes time and memory.
    package var previews = 0

    /// Where encoders note what a second pass needs: the state's folder, or where temporary files go. Room is reckoned
    /// there as it is at destinations; nil reckons none.
    package var notesFolder: String? = PassFiles.base.withLock { $0 }

    /// How much room there is where a file goes; nil where that can't be told.
    package var space: @Sendable (_ destination: String) -> FreeSpace? = RunPolicy.space

    /// Room on a file system.
    package struct FreeSpace: Sendable {
        /// Tells file systems apart.
        package var fileSystem: UInt64
        /// Bytes.
        package var bytes: Int64
        /// Notes it.
        package init(fileSystem: UInt64, bytes: Int64) {
            self.fileSystem = fileSystem
            self.bytes = bytes
        }
    }

    /// Asks the system.
    package static func space(_ destination: String) -> FreeSpace? {
        guard let path = DestinationPath(destination), let bytes = path.freeSpace else { return nil }
        return FreeSpace(fileSystem: path.fileSystem, bytes: bytes)
    }

    /// The whole machine by default.
    package init(budget: ResourceBudget = .ofThisMachine()) { self.budget = budget }
}
