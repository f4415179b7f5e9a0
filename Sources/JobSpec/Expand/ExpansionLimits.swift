internal import Locking
internal import YAMLDocument

/// What job instances may come to altogether, counted before any of it is created: a few kilobytes of YAML can ask for
/// a thousand clips in a thousand instances.
enum ExpansionLimits {
    /// The most instances of all jobs of a file.
    static let instances = 200_000
    /// Nodes of YAML that each instance may have without being counted.
    static let freeNodes = 256
    /// The most nodes beyond those, over all instances of a file. One takes about a kilobyte once it is decoded.
    static let surplusNodes = 500_000
    /// Nodes of named settings that each track may use without being counted.
    static let freeSettings = 64
    /// The most nodes of named settings beyond those, over all tracks of all instances of a file.
    static let surplusSettings = 2_000_000

    /// What a number of instances of a job with so many nodes is counted as; saturates.
    static func surplus(instances: Int, nodes: Int) -> Int {
        let (product, overflow) = instances.multipliedReportingOverflow(by: max(0, nodes - freeNodes))
        return overflow ? Int.max : product
    }

    /// The nodes that an instance of a job comes to: its own without its matrix, and what all its outputs share once for
    /// each of them.
    static func nodes(of job: YAMLNode) -> Int {
        let own = Int(job.size) - Int(job[key: "matrix"]?.size ?? 0)
        guard let outputs = job[key: "outputs"], case .mapping(let entries) = outputs.content else {
            return own
        }
        // More outputs than a job can have are refused as such.
        let count = min(entries.count, JobDecoder.mostOutputs)
        return own + max(0, own - Int(outputs.size)) * max(0, count - 1)
    }

    /// Counts of all jobs of a file, shared by the threads that outline them.
    struct Count: Sendable {
        var instances = 0
        var surplus = 0

        /// It is more than a file may come to.
        var isTooMuch: Bool {
            instances > ExpansionLimits.instances || surplus > ExpansionLimits.surplusNodes
        }

        /// Adds instances of a job.
        mutating func add(instances count: Int, nodes: Int) {
            instances = instances.addingReportingOverflow(count).overflow ? Int.max : instances + count
            let (sum, overflow) = surplus.addingReportingOverflow(
                ExpansionLimits.surplus(instances: count, nodes: nodes))
            surplus = overflow ? Int.max : sum
        }
    }
}

/// What may still be merged of named settings, over all instances of a file.
final class SettingsBudget: Sendable {
    private let left = Guarded(ExpansionLimits.surplusSettings)

    /// Takes the nodes of settings that one track uses; false when it is spent.
    func spend(_ nodes: Int) -> Bool {
        guard nodes > ExpansionLimits.freeSettings else { return true }
        return left.withLock { left in
            left = max(0, left - (nodes - ExpansionLimits.freeSettings))
            return left > 0
        }
    }
}
