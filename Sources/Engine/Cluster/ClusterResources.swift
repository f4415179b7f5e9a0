/// The resources of a part that are requested from the cluster.
package struct ClusterResources: Codable, Hashable, Sendable {
    /// Name of the partition (queue); nil for the cluster's default.
    package var partition: String?
    /// Account to charge; nil for the user's default.
    package var account: String?
    /// Time limit in Slurm's notation, such as `4:00:00`; nil for the partition's limit.
    package var timeLimit: String?
    /// Number of processors; nil for the cluster's default.
    package var processors: Int?
    /// Memory in bytes; nil for the cluster's default.
    package var memory: Int64?
    /// Number of parts that run at once; nil for no limit.
    package var concurrentParts: Int?

    /// Creates resources, all of which are the cluster's defaults.
    package init() {}

    /// Returns the resources with those of `other` in place of missing ones.
    func replacingMissing(by other: ClusterResources) -> ClusterResources {
        var result = self
        result.partition = partition ?? other.partition
        result.account = account ?? other.account
        result.timeLimit = timeLimit ?? other.timeLimit
        result.processors = processors ?? other.processors
        result.memory = memory ?? other.memory
        result.concurrentParts = concurrentParts ?? other.concurrentParts
        return result
    }

    /// The first invalid value, as an error message; nil if all are valid. Values also come from the shared folder.
    package var problem: String? {
        let isName = { (text: String) in
            (1...64).contains(text.utf8.count) && text.first != "-"
                && text.utf8.allSatisfy { Self.nameBytes.contains($0) }
        }
        if let partition, !isName(partition) { return "--partition must be the name of a partition" }
        if let account, !isName(account) { return "--account must be the name of an account" }
        if let timeLimit,
            !(1...20).contains(timeLimit.utf8.count) || timeLimit.utf8.first == UInt8(ascii: "-")
                || !timeLimit.utf8.allSatisfy({ Self.timeBytes.contains($0) })
        {
            return "--time must be a time limit such as 90 (minutes), 4:00:00 or 2-12:00:00"
        }
        if let processors, !(1...4096).contains(processors) { return "--cpus must be from 1 to 4096" }
        if let memory, !(16 << 20...1 << 50).contains(memory) {
            return "--memory must be a size such as 4GB, at least 16 MiB"
        }
        if let concurrentParts, !(1...100_000).contains(concurrentParts) {
            return "--concurrent must be from 1 to 100000"
        }
        return nil
    }

    private static let nameBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-".utf8)
    private static let timeBytes = Set("0123456789:-".utf8)
}
