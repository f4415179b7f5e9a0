public import Media

/// One output of a job and what it is made of: what is verified, judged, published and remembered by itself.
public struct OutputTask: Codable, Hashable, Sendable {
    /// The job's id.
    public var job: String
    /// The job file as the user named it.
    public var file: String
    /// What it is made of.
    public var input: InputPlan
    /// What is made.
    public var output: OutputPlan

    /// Its name in messages, reports and the state: the job's, and behind a `/` its own where it has one. No job's id ends
    /// so: one with a `/` ends with `]`.
    public var name: String { Self.name(job: job, output: output.id) }

    /// The name of an output of a job.
    public static func name(job: String, output: String?) -> String {
        output.map { "\(job)/\($0)" } ?? job
    }

    /// The task of an output that ended early because it was full: what of it is read, and its chapters.
    public func stopped(at end: MediaTime?) -> OutputTask {
        guard let end else { return self }
        var task = self
        task.output.chapters = output.chapters.ending(at: end)
        task.input.joinedRanges = input.joinedRanges.isEmpty ? [] : input.joinedRanges.prefix(lasting: end)
        task.input.range = (input.range ?? TimeRange(start: .zero, duration: output.expectedDuration))
            .prefix(lasting: end)
        return task
    }
}
