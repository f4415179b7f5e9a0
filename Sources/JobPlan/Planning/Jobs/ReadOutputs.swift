internal import ExactStrings

/// The outputs of other jobs that a job reads. An output that is missing belongs to a rejected job.
struct ReadOutputs {
    /// An output of another job.
    enum Output {
        /// A file that was published before planning.
        case published(path: String)
        /// An output that the job has yet to create.
        case planned(OutputTask)
        /// No output, because its job is skipped.
        case skipped
    }

    private struct Key: Hashable {
        let instance: ExactString
        let output: String?
    }

    private var outputs: [Key: Output] = [:]

    /// The output of a job instance by the output's id, which is nil for the only output of a job.
    subscript(instance: String, output: String?) -> Output? {
        get { outputs[Key(instance: instance.exact, output: output)] }
        set { outputs[Key(instance: instance.exact, output: output)] = newValue }
    }
}
