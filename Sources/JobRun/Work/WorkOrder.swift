package import JobPlan
internal import LibAV
package import Media
package import Publishing

/// The work of a job before publishing: the media, from the sources to verified temporary files. Carried out
/// in this process or in another one.
package struct WorkOrder: Sendable {
    package var plan: JobPlan
    /// Temporary files of the plan's outputs, in their order; empty for a check.
    package var outputs: [TemporaryFile]
    /// File for the discarded output of the first of two passes; nil if there is one pass.
    package var scratch: TemporaryFile?
    /// Whether previews of finished outputs are created for a report.
    package var makesPreview: Bool
    /// Whether the outputs exist already and only their expectations are evaluated.
    package var onlyEvaluates = false
    /// Called when the outputs are complete, before their previews for a report are created.
    var onChecked: @Sendable () -> Void = {}
    /// Whether the process carries out no other work meanwhile.
    var ownsProcess = false
    /// Distinguishes the order from other orders of the same worker.
    let identity = Identity()

    /// An object for each order.
    final class Identity: Sendable {}

    package init(
        plan: JobPlan, outputs: [TemporaryFile], scratch: TemporaryFile?, makesPreview: Bool = false
    ) {
        self.plan = plan
        self.outputs = outputs
        self.scratch = scratch
        self.makesPreview = makesPreview
    }
}

/// The findings of a job's work.
package struct WorkFindings: Codable, Sendable {
    /// Findings on each output, in the plan's order.
    package var outputs: [OutputFindings]

    /// Whether all expectations are met.
    var isAsExpected: Bool { outputs.allSatisfy { $0.expectations.allSatisfy(\.holds) } }
}

/// The findings on one output.
package struct OutputFindings: Codable, Sendable {
    /// Reports on the output's tracks.
    package var tracks: [TrackReport] = []
    /// Time at which the output ends because of its size limit, on its time line.
    package var stop: MediaTime?
    /// Presentation times of still images on the source's time line, in their order.
    package var imageTimes: [MediaTime] = []
    /// Ranges of the output's files within the file that was written; empty if it is one file.
    package var parts: [TemporaryFile.Part] = []
    /// Data of the source that the plan keeps and the output lacks; one line for each loss.
    package var losses: [String] = []
    /// Expectations with their measured values, whether met or not.
    package var expectations: [ExpectationResult] = []
    /// Measured loudness of the normalized tracks.
    package var loudness: [OutputResult.Normalization] = []
    /// Preview for the report; nil if the report shows none.
    package var preview: JobPreview?
}

/// The outcome of a job's work.
package enum WorkOutcome: Codable, Sendable {
    /// The outputs are complete and as planned; their expectations are evaluated.
    case finished(WorkFindings)
    /// The work failed; the temporary files are discarded.
    case failed(JobFailure)
    /// The work was cancelled.
    case cancelled
}

/// The progress of a job's work.
package struct WorkProgress: Codable, Hashable, Sendable {
    /// Completed fraction, from 0 to 1.
    package var fraction = 0.0
    /// Processed media in seconds.
    package var media = 0.0

    package init(fraction: Double = 0, media: Double = 0) {
        self.fraction = fraction
        self.media = media
    }
}

/// The handle of work in progress.
package protocol WorkHandle: Sendable {
    /// Cancels the work at once. Its completion is still called.
    func cancel()
    var progress: WorkProgress { get }
}

/// A performer of jobs' work, in this process or in another one.
package protocol WorkPerformer: Sendable {
    /// Starts the work. `completion` is called once, on any queue.
    func perform(
        _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
    ) -> any WorkHandle
    /// Returns whether the performer that would start the job now has probed its source before, or whether
    /// none has.
    func isPrepared(for job: JobPlan) -> Bool
}

extension WorkPerformer {
    /// Returns true: every job is equally prepared.
    package func isPrepared(for job: JobPlan) -> Bool { true }
}

/// A performer that works in this process.
package struct LocalPerformer: WorkPerformer {
    private let environment: MediaEnvironment

    /// Creates a performer that accesses sources through an environment.
    package init(_ environment: MediaEnvironment) { self.environment = environment }

    package func perform(
        _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
    ) -> any WorkHandle {
        // Unfinished outputs are read back through their descriptors, regardless of the folders to which
        // access is allowed.
        var environment = environment
        let lent = PassedDescriptors()
        for output in order.outputs { lent.add(output.descriptor, for: output.reopenPath) }
        environment.sources.descriptors = lent
        // The plan is reduced as for a worker process.
        var reduced = order
        reduced.plan = order.plan.bare
        let work = JobWork(reduced, in: environment) { @Sendable _ in order.onChecked() }
        work.start { @Sendable outcome in
            lent.revoke()
            completion(outcome)
        }
        return work
    }
}
