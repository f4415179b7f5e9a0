package import JobPlan
internal import LibAV
package import Media
package import Publishing

/// What is to be done for a job before anything is published: the media, from the sources to temporary files that are
/// checked. It can be done in this process or in another one.
package struct WorkOrder: Sendable {
    /// What is to be done.
    package var plan: JobPlan
    /// Where the plan's outputs go, in their order.
    package var outputs: [TemporaryFile]
    /// Where the first of two passes writes what nobody needs; nil where there is one pass.
    package var scratch: TemporaryFile?
    /// What is finished is looked at for a report.
    package var makesPreview: Bool
    /// The outputs are there already: nothing is made, they are held against what is expected of them.
    package var onlyJudges = false
    /// Hears that the outputs are whole, before they are looked at for a report.
    var onChecked: @Sendable () -> Void = {}
    /// Nothing else is done in the process meanwhile.
    var isAlone = false

    /// Makes an order.
    package init(
        plan: JobPlan, outputs: [TemporaryFile], scratch: TemporaryFile?, makesPreview: Bool = false
    ) {
        self.plan = plan
        self.outputs = outputs
        self.scratch = scratch
        self.makesPreview = makesPreview
    }
}

/// What was found while the work was done.
package struct WorkFindings: Codable, Sendable {
    /// Of each output, in the plan's order.
    package var outputs: [OutputFindings]

    /// All that was expected holds.
    var isAsExpected: Bool { outputs.allSatisfy { $0.expectations.allSatisfy(\.holds) } }
}

/// What was found of one output.
package struct OutputFindings: Codable, Sendable {
    /// What was done with each track.
    package var tracks: [TrackReport] = []
    /// Where the output ends because no more fits, on its time line.
    package var stop: MediaTime?
    /// When the frames of stills come on screen, on the source's time line, in their order.
    package var stills: [MediaTime] = []
    /// Where the output's files lie in the one that was made; empty where it is one file.
    package var parts: [TemporaryFile.Part] = []
    /// What was to be kept of the source and is not in the output, a line each.
    package var losses: [String] = []
    /// What was expected and measured, whether it holds or not.
    package var expectations: [JudgedExpectation] = []
    /// Tracks whose loudness was changed.
    package var loudness: [OutputResult.Normalization] = []
    /// What a report shows of it, where it is to.
    package var preview: JobPreview?
}

/// How work ended.
package enum WorkOutcome: Codable, Sendable {
    /// The outputs are whole and as planned; what is expected of them is judged.
    case finished(WorkFindings)
    /// It failed; the temporary files are worthless.
    case failed(JobFailure)
    /// It was cancelled.
    case cancelled
}

/// How far work has come.
package struct WorkProgress: Codable, Hashable, Sendable {
    /// From 0 to 1.
    package var fraction = 0.0
    /// Media seconds done.
    package var media = 0.0

    /// How far: nowhere where nothing is said.
    package init(fraction: Double = 0, media: Double = 0) {
        self.fraction = fraction
        self.media = media
    }
}

/// Work under way.
package protocol WorkHandle: Sendable {
    /// Ends it at once; its completion still comes.
    func cancel()
    /// How far it has come.
    var progress: WorkProgress { get }
}

/// Does work: here, or in a process of its own.
package protocol WorkPerformer: Sendable {
    /// Begins; `completion` is called once, on any queue.
    func perform(
        _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
    ) -> any WorkHandle
    /// Whoever would begin with it now has looked into its source before, or nobody has.
    func isPrepared(for job: JobPlan) -> Bool
}

extension WorkPerformer {
    /// As good as for any other.
    package func isPrepared(for job: JobPlan) -> Bool { true }
}

/// Does work in this process.
package struct LocalPerformer: WorkPerformer {
    private let environment: MediaEnvironment

    /// Makes one that reaches sources through an environment.
    package init(_ environment: MediaEnvironment) { self.environment = environment }

    /// Begins; see `WorkPerformer`.
    package func perform(
        _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
    ) -> any WorkHandle {
        // Unfinished outputs are read back by their descriptors, wherever files may be opened.
        var environment = environment
        let lent = PassedDescriptors()
        for output in order.outputs { lent.lend(output.descriptor, for: output.reopenPath) }
        environment.sources.lent = lent
        // What a worker is given is all that there is to go by, here too.
        var bare = order
        bare.plan = order.plan.bare
        let work = JobWork(bare, in: environment) { @Sendable _ in order.onChecked() }
        work.start { @Sendable outcome in
            lent.takeBack()
            completion(outcome)
        }
        return work
    }
}
