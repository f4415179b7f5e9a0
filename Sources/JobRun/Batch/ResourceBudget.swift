internal import FoundationEssentials
package import JobPlan
internal import LibAV

/// The resources that a batch may use, and those reserved by its running jobs.
package struct ResourceBudget: Sendable {
    package let cores: Int
    /// Memory in bytes.
    package let memory: Int64
    /// Maximum number of concurrent jobs, regardless of their cost; nil if only their cost limits it.
    package let jobs: Int?
    private var usedCores = 0.0
    private var usedMemory: Int64 = 0
    private var running = 0

    package init(cores: Int, memory: Int64, jobs: Int? = nil) {
        self.cores = max(1, cores)
        self.memory = memory
        self.jobs = jobs
    }

    /// Returns a budget of all processors and 80 % of the memory that is available now, within the limits of control
    /// groups.
    package static func ofThisMachine(jobs: Int? = nil) -> ResourceBudget {
        ResourceBudget(
            cores: Processors.current.available,
            memory: min(availableMemory, ControlGroup.current.memory ?? .max) / 5 * 4, jobs: jobs)
    }

    private static var availableMemory: Int64 {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/meminfo"), encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
        else { return 1 << 32 }
        return kilobytes << 10
    }

    /// Returns whether a job of the given cost may start now: a processor is idle, and enough memory is free. Without
    /// running jobs any job is admitted.
    package func admits(_ cost: JobCost) -> Bool {
        if running == 0 { return true }
        guard usedMemory + cost.memory <= memory else { return false }
        if let jobs { return running < jobs }
        // A job that only writes to disk uses no processor. The limit on `running` keeps a slow disk from being shared
        // by too many jobs.
        return usedCores < Double(cores) && running < 2 * cores
    }

    /// Reserves the resources of a job that starts.
    package mutating func reserve(_ cost: JobCost) {
        running += 1
        usedCores += cost.cores
        usedMemory += cost.memory
    }

    /// Returns the processors of a job to the budget while it only writes to disk (`disk` is true), or reserves them
    /// again.
    package mutating func wait(_ cost: JobCost, for disk: Bool) {
        usedCores += disk ? -cost.cores : cost.cores
    }

    /// Releases the resources of a job that has ended. `afterWaiting` is true if its processors were already returned
    /// by `wait`.
    package mutating func release(_ cost: JobCost, afterWaiting: Bool = false) {
        running -= 1
        usedCores -= afterWaiting ? 0 : cost.cores
        usedMemory -= cost.memory
    }
}
