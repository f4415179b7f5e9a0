internal import Dispatch
internal import JobPlan
internal import Publishing

/// The current task of a worker, from the supervisor's view.
struct WorkerAssignment {
    /// The end of an assignment.
    enum Ending: Sendable {
        case sandboxTested([SandboxFinding])
        case done(WorkOutcome)
        case probed(ProbeReply)
        /// The worker exited, or the supervisor killed it.
        case died(String, byItself: Bool)
        case cancelled
        /// The worker didn't receive the order, which can be assigned to another one.
        case notDelivered
    }

    /// Function that receives the ending, once.
    let completion: @Sendable (Ending) -> Void
    /// Output files, kept open until the task has ended; empty for a check and for a probe.
    let outputs: [TemporaryFile]
    /// Monitor of the work order, which also identifies it; nil for a probe.
    private(set) var monitor: WorkMonitor?
    /// Whether the task is short: a dry open of settings, or a sandbox test.
    private(set) var isTrial = false
    /// Files that the worker may request.
    private(set) var requested: [RequestedFiles] = []
    /// Maximum duration in seconds, regardless of activity; nil for no limit.
    private var maxDuration: Double?
    private let begun = DispatchTime.now()
    /// Number of tracks of each output.
    private(set) var tracks: [Int] = []
    private(set) var makesPreview = false
    private(set) var onChecked: @Sendable (WorkFindings) -> Void = { _ in }
    /// Findings, once the outputs are complete.
    var findings: WorkFindings?
    var isCancelled = false
    private var activity: UInt64 = 0
    private var lastActivity = DispatchTime.now()

    /// Creates the assignment of work.
    init(_ order: WorkOrder, completion: @escaping @Sendable (Ending) -> Void) {
        self.completion = completion
        outputs = order.outputs
        monitor = order.monitor
        tracks = order.reportedTracks
        makesPreview = order.makesPreview
        onChecked = order.onChecked
        requested = order.plan.requestedFiles
    }

    /// Creates the assignment of a probe.
    init(
        _ request: ProbeRequest, limits: WorkerLimits, completion: @escaping @Sendable (Ending) -> Void
    ) {
        self.completion = completion
        outputs = []
        isTrial = request.path == nil
        maxDuration = request.isBrief ? limits.probeTimeout : nil
        requested = request.requestedFiles
    }

    /// Creates the assignment of a sandbox test.
    init(sandboxTest completion: @escaping @Sendable (Ending) -> Void) {
        self.completion = completion
        outputs = []
        isTrial = true
    }

    /// Records the activity counter that the worker reported.
    mutating func record(activity: UInt64) {
        guard activity != self.activity else { return }
        self.activity = activity
        lastActivity = .now()
    }

    /// Returns the exceeded limit of duration or activity, as the reason for killing the worker; nil if there
    /// is none.
    func exceededLimit(of limits: WorkerLimits) -> String? {
        let elapsed = Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
        if let maximum = maxDuration, elapsed > maximum {
            return "it didn't finish within \(Int(maximum)) s"
        }
        let idleSeconds =
            Double(DispatchTime.now().uptimeNanoseconds - lastActivity.uptimeNanoseconds) / 1e9
        let timeout =
            isTrial
            ? limits.trialTimeout
            : monitor == nil ? limits.probeStallTimeout : limits.stallTimeout
        return idleSeconds > timeout ? "it made no progress for \(Int(idleSeconds)) s" : nil
    }

    /// Returns the ending of the task after the worker died. `why` is the reason, `byItself` whether the
    /// supervisor didn't kill it.
    func endingAfterDeath(_ why: String, byItself: Bool) -> Ending {
        if isCancelled { return .cancelled }
        // The output is complete; only its preview is missing, so the job succeeds.
        if var findings {
            for index in findings.outputs.indices {
                var preview = JobPreview()
                preview.problems = ["the worker died while it inspected the output: \(why)"]
                findings.outputs[index].preview = preview
            }
            return .done(.finished(findings))
        }
        return .died(why, byItself: byItself)
    }
}
