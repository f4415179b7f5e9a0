internal import FoundationEssentials
internal import Glibc
package import JobPlan

/// What of the machine a batch may use, and what its running jobs take of it.
package struct ResourceBudget: Sendable {
    /// Processors.
    package let cores: Int
    /// Bytes of memory.
    package let memory: Int64
    /// At most so many jobs at a time, whatever they cost; nil lets their costs decide.
    package let jobs: Int?
    private var usedCores = 0.0
    private var usedMemory: Int64 = 0
    private var running = 0

    /// A budget with nothing in use.
    package init(cores: Int, memory: Int64, jobs: Int? = nil) {
        self.cores = max(1, cores)
        self.memory = memory
        self.jobs = jobs
    }

    /// This machine's processors and four fifths of the memory that is free now.
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

    /// The most jobs that can run at a time.
    package var mostJobs: Int { jobs ?? cores }

    /// A job of that cost may start now: a processor has nothing to do, and there is memory for it. One that is too
    /// large for any budget starts alone.
    package func admits(_ cost: JobCost) -> Bool {
        if running == 0 { return true }
        guard usedMemory + cost.memory <= memory else { return false }
        if let jobs { return running < jobs }
        // What waits for its disk takes no processor; where the disk is slow, others wait for it too.
        return usedCores < Double(cores) && running < 2 * cores
    }

    /// It starts.
    package mutating func take(_ cost: JobCost) {
        running += 1
        usedCores += cost.cores
        usedMemory += cost.memory
    }

    /// It goes on without processors: all that is left is to bring its output to disk; or it needs them again.
    package mutating func wait(_ cost: JobCost, for disk: Bool) {
        usedCores += disk ? -cost.cores : cost.cores
    }

    /// It has ended, without processors where it waited for its disk.
    package mutating func give(back cost: JobCost, afterWaiting: Bool = false) {
        running -= 1
        usedCores -= afterWaiting ? 0 : cost.cores
        usedMemory -= cost.memory
    }
}
