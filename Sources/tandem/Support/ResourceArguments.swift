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
            "Time limit of a part on a cluster, such as 4:00:00. A part of Slurm or Kubernetes that reaches it is started again and continues."
    )
    var time: String?

    @Option(help: "Number of processors of a part on a cluster.")
    var cpus: Int?

    @Option(help: ArgumentHelp("Memory of a part on a cluster, such as 8GB.", valueName: "size"))
    var memory: String?

    @Option(help: "Maximum number of parts that run at once (default on this machine: 1).")
    var concurrent: Int?

    @Option(help: "Kubernetes: container image with this program.")
    var image: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Kubernetes: persistent volume claim and the path of its volume, which is the same on this machine; repeatable.",
            valueName: "name:path"))
    var claim: [VolumeClaim] = []

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
        (resources.concurrentParts, resources.image) = (concurrent, image)
        resources.claims = claim.isEmpty ? nil : claim
        return resources
    }
}

extension VolumeClaim: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
