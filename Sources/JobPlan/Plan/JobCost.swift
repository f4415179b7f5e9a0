internal import JobSpec
internal import LibAV
internal import Media

/// The estimated resources of a running job, by which the scheduler allocates processors and memory. The estimates
/// aren't limits.
package struct JobCost: Hashable, Sendable {
    /// Number of processors that the job can keep busy.
    package var cores: Double
    /// Memory in bytes.
    package var memory: Int64
    /// Estimated processor time in seconds.
    package var work: Double

    /// Number of processors that a job uses at most, unless it sets another one.
    package static let mostProcessors = 16

    /// Estimates the cost of a job on a machine with a number of processors, on which `work` doesn't depend.
    package init(_ plan: JobPlan, processors: Int = mostProcessors) {
        let job = OutputCost.Job(duration: max(0, plan.expectedDuration.seconds), processors: processors)
        let base = OutputCost(memory: 48 << 20, work: 0.02)
        let cost = plan.outputs.reduce(base) { $0 + $1.kind.plan.cost(of: $1, in: job) }
        cores =
            plan.scheduling.threads.map(Double.init) ?? max(1, min(Double(Self.mostProcessors), cost.cores))
        memory = cost.memory
        work = cost.work
    }
}

/// The estimated resources that an output adds to those of its job.
package struct OutputCost: Hashable, Sendable {
    /// Number of processors that the output can keep busy; 0 for less than one.
    package var cores: Double = 0
    /// Memory in bytes.
    package var memory: Int64 = 0
    /// Estimated processor time in seconds.
    package var work: Double = 0

    /// Properties of the job on which the cost of an output depends.
    package struct Job: Sendable {
        /// Longest duration of the job's outputs, in seconds.
        package var duration: Double
        /// Number of processors of the machine.
        package var processors: Int
    }

    static func + (one: OutputCost, other: OutputCost) -> OutputCost {
        OutputCost(
            cores: one.cores + other.cores, memory: one.memory + other.memory, work: one.work + other.work)
    }

    /// Returns the pixels of a frame of the only track of an output, encoded and in the source, and the seconds that are
    /// read; nil if the track isn't encoded.
    static func frame(of output: OutputPlan) -> (area: Int64, sourceArea: Int64, seconds: Double)? {
        guard let track = output.tracks.first, case .encode(let encoding) = track.action else { return nil }
        return (
            Int64(encoding.encoder.width) * Int64(encoding.encoder.height),
            Int64(track.source.width) * Int64(track.source.height), track.expected.timeRange.duration.seconds
        )
    }
}
