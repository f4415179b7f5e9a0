internal import Diagnostics
internal import Locking
internal import YAMLDocument

/// The limits of all job instances together, checked before any is created: a few kilobytes of YAML can
/// request a thousand clips in each of a thousand instances.
package struct ExpansionLimits: Sendable {
    /// Maximum number of combinations of one job's `matrix`.
    package var combinations = 10_000
    /// Maximum number of instances of all jobs of a file.
    package var instances = 200_000

    package init() {}

    /// Number of YAML nodes of an instance that are not counted.
    static let freeNodes = 256
    /// Maximum number of counted nodes over all instances of a file. Each takes about a kilobyte once it is decoded.
    static let surplusNodes = 500_000
    /// Number of nodes of named settings that are not counted for each track.
    static let freeSettings = 64
    /// Maximum number of counted nodes of named settings, over all tracks of all instances of a file.
    static let surplusSettings = 2_000_000

    /// Returns the counted nodes of some instances of a job with `nodes` nodes each. Saturates on overflow.
    static func surplus(instances: Int, nodes: Int) -> Int {
        let (product, overflow) = instances.multipliedReportingOverflow(by: max(0, nodes - freeNodes))
        return overflow ? Int.max : product
    }

    /// Returns the number of nodes of a job instance: its own without the matrix, plus the shared nodes once for each
    /// additional output.
    static func nodes(of job: YAMLNode) -> Int {
        let own = Int(job.size) - Int(job[key: "matrix"]?.size ?? 0)
        guard let outputs = job[key: "outputs"], case .mapping(let entries) = outputs.content else {
            return own
        }
        // More outputs are reported as a separate error.
        let count = min(entries.count, JobSpec.mostOutputs)
        return own + max(0, own - Int(outputs.size)) * max(0, count - 1)
    }

    /// Counts of instances and nodes over all jobs of a file, shared by the threads that expand them.
    struct Count: Sendable {
        var instances = 0
        var surplus = 0

        func exceeds(_ limits: ExpansionLimits) -> Bool {
            instances > limits.instances || surplus > ExpansionLimits.surplusNodes
        }

        /// Adds instances of a job. Saturates on overflow.
        mutating func add(instances count: Int, nodes: Int) {
            instances = instances.addingReportingOverflow(count).overflow ? Int.max : instances + count
            let (sum, overflow) = surplus.addingReportingOverflow(
                ExpansionLimits.surplus(instances: count, nodes: nodes))
            surplus = overflow ? Int.max : sum
        }
    }
}

/// Limits of the instances of one job, which is identified by its index.
extension BatchDefinition {
    /// Returns the number of YAML nodes of each instance.
    func nodeCount(ofJob job: Int) -> Int {
        ExpansionLimits.nodes(of: bases[job].node)
    }

    /// Returns whether a number of instances is within the file's limit, and reports an error if it isn't.
    func allowsInstances(_ count: Int, ofJob job: Int, reader: NodeReader) -> Bool {
        if count <= limits.instances { return true }
        reader.sink.error(
            .fanOut, "the job expands to more than \(limits.instances) instances", at: bases[job].id.range)
        return false
    }

    /// Returns whether the nodes of a number of instances are within the limit, and reports an error if they
    /// aren't.
    func allowsNodes(ofInstances instances: Int, ofJob job: Int, reader: NodeReader) -> Bool {
        let nodes = nodeCount(ofJob: job)
        if ExpansionLimits.surplus(instances: instances, nodes: nodes) <= ExpansionLimits.surplusNodes {
            return true
        }
        reader.sink.error(
            .fanOut,
            "\(instances) job instances of \(nodes) values each are too many; at most \(ExpansionLimits.surplusNodes) values beyond the first \(ExpansionLimits.freeNodes) of each are allowed in total",
            at: bases[job].id.range)
        return false
    }
}

/// The budget of nodes of named settings that may be merged, over all instances of a file.
final class SettingsBudget: Sendable {
    private let remaining = Guarded(ExpansionLimits.surplusSettings)

    /// Subtracts the nodes of settings that one track uses. Returns false if the budget is exhausted.
    func spend(_ nodes: Int) -> Bool {
        guard nodes > ExpansionLimits.freeSettings else { return true }
        return remaining.withLock { remaining in
            remaining = max(0, remaining - (nodes - ExpansionLimits.freeSettings))
            return remaining > 0
        }
    }
}
