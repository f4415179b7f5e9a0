internal import ArgumentParser
internal import Engine
internal import JobSpec

/// Options for the worker processes that read media.
struct WorkerArguments: ParsableArguments {
    @Option(
        help:
            "worker: media are read in processes of their own, and what brings one of them down is that job's failure; none: in this process."
    )
    var isolation: Isolation = .worker

    @Flag(
        inversion: .prefixedNo,
        help:
            "Workers take from themselves what they don't need: files but their own, the network, new privileges."
    )
    var sandbox = true

    @Flag(help: "Refuses to run where the sandbox can't be had as a whole.")
    var requireSandbox = false

    @Option(help: ArgumentHelp("Memory that a worker may take, such as 2GiB.", valueName: "size"))
    var workerMemory: String?

    enum Isolation: String, ExpressibleByArgument, CaseIterable {
        case worker, none
    }

    func validate() throws {
        if requireSandbox, isolation == .none || !sandbox {
            throw ValidationError("--require-sandbox wants workers and their sandbox")
        }
        if let workerMemory, Self.bytes(workerMemory) == nil {
            throw ValidationError("--worker-memory is a size such as 512MiB or 2GB, of 16 MiB or more")
        }
    }

    private static func bytes(_ text: String) -> Int64? {
        Quantity.bytes(text).flatMap { $0 >= 16 << 20 ? $0 : nil }
    }

    /// The options as the engine's configuration.
    var settings: WorkerSettings {
        var settings = WorkerSettings(notify: { Terminal.say($0) })
        settings.usesWorkers = isolation == .worker
        settings.isSandboxed = sandbox
        settings.requiresSandbox = requireSandbox
        settings.memory = workerMemory.flatMap(Self.bytes)
        return settings
    }
}
