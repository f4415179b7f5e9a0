package import JobPlan
internal import LibAV
internal import Locking
package import Media
package import Publishing
package import Streaming

/// The order for a job's work: the steps from the sources to verified temporary files. It is executed in this process
/// or in a worker.
package struct WorkOrder: Sendable {
    package var plan: JobPlan
    /// Temporary files of the plan's outputs, in the plan's order; empty for a check.
    package var outputs: [TemporaryFile]
    /// File for a first pass or probes, whose output is discarded; nil without them.
    package var scratch: TemporaryFile?
    /// Whether previews of finished outputs are created for the report.
    package var makesPreview: Bool
    /// Treatment of the outputs.
    package var task = Task.create

    /// The treatment of a work order's outputs.
    package enum Task: Codable, Sendable {
        /// Creation and verification.
        case create
        /// Evaluation of the expectations of existing outputs.
        case evaluate
        /// Verification of copies of outputs that equal plans created, with the findings of their creation. They are
        /// verified like new outputs, as far as that is possible without the session that wrote them.
        case verify(WorkFindings)
    }
    /// Called with the findings when the outputs are complete, before their previews are created.
    package var onChecked: @Sendable (WorkFindings) -> Void = { _ in }
    /// Whether other jobs may run at the same time. Work that needs more processor time in all if it is divided is then
    /// not divided.
    package var sharesProcessors = false
    /// Whether the process executes no other work at the same time.
    package var ownsProcess = false
    /// Progress of the work, which the performer updates.
    package let monitor: WorkMonitor

    package init(
        plan: JobPlan, outputs: [TemporaryFile], scratch: TemporaryFile?, makesPreview: Bool = false,
        monitor: WorkMonitor = WorkMonitor()
    ) {
        self.monitor = monitor
        self.plan = plan
        self.outputs = outputs
        self.scratch = scratch
        self.makesPreview = makesPreview
    }

    /// Numbers of the tracks that the findings report on, by output.
    package var reportedTracks: [Int] {
        if case .evaluate = task { return plan.outputs.map { _ in 0 } }
        return plan.outputs.map(\.tracks.count)
    }
}

/// The findings of a job's work, on all outputs.
package struct WorkFindings: Codable, Sendable {
    /// Findings on each output, in the plan's order.
    package var outputs: [OutputFindings]

    package init(outputs: [OutputFindings]) { self.outputs = outputs }

    package var isAsExpected: Bool { outputs.allSatisfy { $0.expectations.allSatisfy(\.holds) } }
}

/// The findings on one output.
package struct OutputFindings: Codable, Sendable {
    package var tracks: [TrackReport] = []
    /// Time on the output's time line at which it ends because of its size limit; nil if the limit wasn't reached.
    package var stop: MediaTime?
    /// Presentation times of still images on the source's time line, in the plan's order.
    package var imageTimes: [MediaTime] = []
    /// Byte ranges of the output's files within the written file; empty if the output is one file.
    package var parts: [TemporaryFile.Part] = []
    /// Description of a rendition of a package with its segments, whose byte ranges are the second and later elements of
    /// `parts`; nil for other outputs and for subtitles.
    package var rendition: StreamingRendition?
    /// Data of the source that the plan keeps and the output lacks; one line for each loss.
    package var losses: [String] = []
    /// Results of all expectations.
    package var expectations: [ExpectationResult] = []
    /// Loudness of the normalized tracks, before and after.
    package var loudness: [OutputResult.Normalization] = []
    /// Bit rates that were tried for `target_size`, with the sizes that they reached.
    package var sizeAttempts: [OutputResult.SizeAttempt] = []
    /// Probes and encodes for `quality`; nil without it.
    package var quality: OutputResult.Quality?
    /// Preview for the report; nil if the report shows none.
    package var preview: JobPreview?
    /// Whether the output was taken from a cache instead of being created.
    package var isFromCache = false
}

/// The outcome of a job's work.
package enum WorkOutcome: Codable, Sendable {
    /// The outputs are complete and as planned; their expectations are evaluated.
    case finished(WorkFindings)
    /// The work failed; the temporary files are discarded.
    case failed(JobFailure)
    case cancelled
}

package struct WorkProgress: Codable, Hashable, Sendable {
    /// Completed fraction, from 0 to 1.
    package var fraction = 0.0
    /// Duration of the media processed so far, in seconds.
    package var media = 0.0

    package init(fraction: Double = 0, media: Double = 0) {
        self.fraction = fraction
        self.media = media
    }
}

/// The progress of a job's work. Its performer sets it; any thread reads it.
package final class WorkMonitor: Sendable {
    private struct State: Sendable {
        var latest = WorkProgress()
        /// Function that returns the current progress; nil if `latest` is current.
        var measure: (@Sendable () -> WorkProgress)?
    }
    private let state = Guarded(State())

    package init() {}

    /// The current progress. After the end of the work, its last progress.
    package var progress: WorkProgress {
        let state = state.withLock { $0 }
        return state.measure?() ?? state.latest
    }

    /// Sets the progress.
    package func report(_ progress: WorkProgress) { state.withLock { $0.latest = progress } }

    /// Calls `measure` for the progress until `endMeasuring`.
    package func beginMeasuring(_ measure: @escaping @Sendable () -> WorkProgress) {
        state.withLock { $0.measure = measure }
    }

    /// Releases the function of `beginMeasuring`.
    package func endMeasuring() {
        let latest = progress
        state.withLock { ($0.measure, $0.latest) = (nil, latest) }
    }
}

/// An executor of jobs' work, in this process or in workers.
package protocol WorkPerformer: Sendable {
    /// Executes the work. Cancelling the task cancels the work, which may nevertheless finish.
    nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome
    /// Returns true if a performer that has already probed the job's source is available, or if none has probed it.
    func isPrepared(for job: JobPlan) -> Bool
}

extension WorkPerformer {
    /// Returns true, because all jobs are executed in the same process.
    package func isPrepared(for job: JobPlan) -> Bool { true }

    /// Has an order performed. Throws the failure of the work, or `CancellationError`.
    nonisolated(nonsending) func findings(of order: WorkOrder) async throws -> WorkFindings {
        switch await perform(order) {
        case .cancelled: throw CancellationError()
        case .failed(let failure): throw failure
        case .finished(let findings):
            try Task.checkCancellation()
            return findings
        }
    }
}

/// A performer that executes work in this process.
package struct LocalPerformer: WorkPerformer {
    private let environment: MediaEnvironment

    /// Creates a performer whose jobs access sources through `environment`.
    package init(_ environment: MediaEnvironment) { self.environment = environment }

    package nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
        // Unfinished outputs are read back through their descriptors, so access doesn't depend on the folders that the
        // environment allows.
        var environment = environment
        let lent = PassedDescriptors()
        defer { lent.revoke() }
        for file in order.outputs + [order.scratch].compactMap(\.self) {
            lent.add(file.descriptor, for: file.reopenPath)
        }
        environment.sources.descriptors = lent
        // A worker receives the same reduced plan.
        var reduced = order
        reduced.plan = order.plan.bare
        return await JobWork(reduced, in: environment).run()
    }
}
