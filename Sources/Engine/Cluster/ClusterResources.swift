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
    /// Container image with the program; nil where parts don't run in containers.
    package var image: String?
    /// Volumes with the batch, the sources and the destinations; nil where parts don't run in containers.
    package var claims: [VolumeClaim]?

    /// Creates resources, all of which are the cluster's defaults.
    package init() {}

    /// An option that states a resource, by its name on the command line.
    package enum Option: String, CaseIterable, Sendable {
        case partition, account, time, cpus, memory, concurrent, image, claim
    }

    /// The options whose resources are stated.
    private var stated: [Option] {
        Option.allCases.filter { option in
            switch option {
            case .partition: partition != nil
            case .account: account != nil
            case .time: timeLimit != nil
            case .cpus: processors != nil
            case .memory: memory != nil
            case .concurrent: concurrentParts != nil
            case .image: image != nil
            case .claim: claims != nil
            }
        }
    }

    /// Returns the resources with those of `other` in place of missing ones.
    func replacingMissing(by other: ClusterResources) -> ClusterResources {
        var result = self
        result.partition = partition ?? other.partition
        result.account = account ?? other.account
        result.timeLimit = timeLimit ?? other.timeLimit
        result.processors = processors ?? other.processors
        result.memory = memory ?? other.memory
        result.concurrentParts = concurrentParts ?? other.concurrentParts
        result.image = image ?? other.image
        result.claims = claims ?? other.claims
        return result
    }

    /// Returns the first resource that an engine doesn't have or that it requires, as an error message; nil if there is
    /// none.
    package func problem(with engine: ClusterEngineKind) -> String? {
        if let option = stated.first(where: { !engine.resourceOptions.contains($0) }) {
            return "--\(option.rawValue) can't be combined with --engine \(engine.rawValue)"
        }
        if let option = engine.requiredOptions.first(where: { !stated.contains($0) }) {
            return "--engine \(engine.rawValue) requires --\(option.rawValue)"
        }
        return problem
    }

    /// The first invalid value, as an error message; nil if all are valid. Values also come from the shared folder.
    package var problem: String? {
        let isName = { (text: String) in
            (1...64).contains(text.utf8.count) && text.first != "-"
                && text.utf8.allSatisfy { Self.nameBytes.contains($0) }
        }
        if let partition, !isName(partition) { return "--partition must be the name of a partition" }
        if let account, !isName(account) { return "--account must be the name of an account" }
        if let timeLimit, Self.seconds(ofTime: timeLimit) == nil {
            return "--time must be a time limit such as 90 (minutes), 4:00:00 or 2-12:00:00"
        }
        if let processors, !(1...4096).contains(processors) { return "--cpus must be from 1 to 4096" }
        if let memory, !(16 << 20...1 << 50).contains(memory) {
            return "--memory must be a size such as 4GB, at least 16 MiB"
        }
        if let concurrentParts, !(1...100_000).contains(concurrentParts) {
            return "--concurrent must be from 1 to 100000"
        }
        if let image,
            !(1...512).contains(image.utf8.count) || !image.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        {
            return "--image must be the name of a container image"
        }
        if let claims, Set(claims.map(\.mountPoint)).count < claims.count {
            return "--claim: two volumes have the same path"
        }
        if let claims, claims.isEmpty || claims.count > 64 || !claims.allSatisfy(\.isValid) {
            return
                "--claim must be the name of a volume claim and the path of its volume, such as media:/media"
        }
        return nil
    }

    private static let nameBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-".utf8)

    /// Returns the seconds of a time limit in Slurm's notation: `minutes`, `minutes:seconds`, `hours:minutes:seconds`,
    /// `days-hours`, `days-hours:minutes` or `days-hours:minutes:seconds`; nil for other text, for no time and for more than 68
    /// years.
    static func seconds(ofTime text: String) -> Int? {
        func numbers(_ text: Substring) -> [Int]? {
            let words = text.split(separator: ":", omittingEmptySubsequences: false)
            let numbers = words.compactMap { word in
                (1...6).contains(word.utf8.count) && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    ? Int(word) : nil
            }
            return numbers.count == words.count && numbers.count <= 3 ? numbers : nil
        }
        let halves = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = halves.last, let times = numbers(last) else { return nil }
        var units = times.count == 3 ? [3600, 60, 1] : [60, 1]
        var days = 0
        if halves.count == 2 {
            guard let first = numbers(halves[0]), first.count == 1 else { return nil }
            (days, units) = (first[0], [3600, 60, 1])
        }
        let seconds = days * 86_400 + zip(times, units).reduce(0) { $0 + $1.0 * $1.1 }
        return (1...Int(Int32.max)).contains(seconds) ? seconds : nil
    }
}
