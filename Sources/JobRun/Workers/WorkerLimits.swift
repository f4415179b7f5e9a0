/// The supervisor's limits of a worker.
struct WorkerLimits: Sendable {
    /// Maximum resident memory in bytes; nil for no limit.
    var memory: Int64?
    /// Seconds without a packet or frame after which a job counts as stuck.
    var stallTimeout = 300.0
    /// Seconds without activity after which a probe counts as stuck.
    var probeStallTimeout = 60.0
    /// Maximum duration of a probe that needn't read the whole source, in seconds.
    var probeTimeout = 60.0
    /// Seconds without activity after which the validation of settings counts as stuck. The slowest encoder
    /// opens within a second.
    var trialTimeout = 20.0
    /// Seconds after a cancellation until a worker that hasn't ended its work is killed.
    var gracePeriod = 3.0
}
