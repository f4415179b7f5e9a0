internal import FoundationEssentials
internal import Glibc
package import JobPlan

/// The resources of the machine that a batch may use, and those that its running jobs use.
package struct ResourceBudget: Sendable {
    /// Number of processors.
    package let cores: Int
    /// Bytes of memory.
    package let memory: Int64
    /// Maximum number of concurrent jobs, regardless of their cost; nil if only their cost limits it.
    package let jobs: Int?
    private var usedCores = 0.0
    private var usedMemory: Int64 = 0
    private var running = 0

    /// Creates a budget with nothing in use.
    package init(cores: Int, memory: Int64, jobs: Int? = nil) {
        self.cores = max(1, cores)
        self.memory = memory
        self.jobs = jobs
    }

    /// Returns a budget of this machine's processors and four fifths of the memory that is available now.
    package static func ofThisMachine(jobs: Int? = nil) -> ResourceBudget {
        ResourceBudget(
            cores: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), memory: availableMemory / 5 * 4, jobs: jobs)
    }

    private static var availableMemory: Int64 {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/meminfo"), encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
        else { return 1 << 32 }
        return kilobytes << 10
    }

    /// Returns whether a job of that cost may start now: a processor is idle, and there is memory for the job. A job
    /// that is too large for any budget starts alone.
    package func admits(_ cost: JobCost) -> Bool {
        if running == 0 { return true }
        guard usedMemory + cost.memory <= memory else { return false }
        if let jobs { return running < jobs }
        // A job that waits for its disk uses no processor. If the disk is slow, other jobs wait for it too.
        return usedCores < Double(cores) && running < 2 * cores
    }

    /// Records that a job starts.
    package mutating func reserve(_ cost: JobCost) {
        running += 1
        usedCores += cost.cores
        usedMemory += cost.memory
    }

    /// Records that a job needs no processors, because only writing its output to disk is left, or that it needs them
    /// again.
    package mutating func wait(_ cost: JobCost, for disk: Bool) {
        usedCores += disk ? -cost.cores : cost.cores
    }

    /// Records that a job has ended. `afterWaiting`: whether its processors are already free, because it
    /// waited for its disk.
    package mutating func release(_ cost: JobCost, afterWaiting: Bool = false) {
        running -= 1
        usedCores -= afterWaiting ? 0 : cost.cores
        usedMemory -= cost.memory
    }
}
