internal import ArgumentParser
internal import Engine
internal import JobSpec

/// Options for the resources of the parts of a batch.
struct ResourceArguments: ParsableArguments {
    @Option(help: "Slurm: partition of the parts.")
    var partition: String?

    @Option(help: "Slurm: account of the parts.")
    var account: String?

    @Option(
        help:
            "Slurm: time limit of a part, such as 4:00:00. A part that reaches it is requeued and continues.")
    var time: String?

    @Option(help: "Slurm: number of processors of a part.")
    var cpus: Int?

    @Option(help: ArgumentHelp("Slurm: memory of a part, such as 8GB.", valueName: "size"))
    var memory: String?

    @Option(help: "Maximum number of parts that run at once (default on this machine: 1).")
    var concurrent: Int?

    func validate() throws {
        if let memory, Language.byteSize.parse(memory) == nil {
            throw ValidationError("--memory must be a size such as 8GB")
        }
        if let problem = resources.problem { throw ValidationError(problem) }
    }

    /// The options as the engine's configuration.
    var resources: ClusterResources {
        var resources = ClusterResources()
        (resources.partition, resources.account, resources.timeLimit) = (partition, account, time)
        (resources.processors, resources.memory) = (cpus, memory.flatMap(Language.byteSize.parse))
        resources.concurrentParts = concurrent
        return resources
    }
}
