internal import ArgumentParser
internal import Engine
internal import JobSpec

/// Options for the worker processes that read media.
struct WorkerArguments: ParsableArguments {
    @Option(
        help:
            "Read media in worker processes, whose crash fails only one job (worker), or in this process (none)."
    )
    var isolation: Isolation = .worker

    @Flag(
        inversion: .prefixedNo,
        help:
            "Restrict workers: no access to other files, the network, other processes or new privileges."
    )
    var sandbox = true

    @Flag(help: "Fail if the sandbox is not completely available.")
    var requireSandbox = false

    @Option(help: ArgumentHelp("Memory limit of a worker, such as 2GiB.", valueName: "size"))
    var workerMemory: String?

    enum Isolation: String, ExpressibleByArgument, CaseIterable {
        case worker, none
    }

    func validate() throws {
        if requireSandbox, isolation == .none || !sandbox {
            throw ValidationError("--require-sandbox requires sandboxed workers")
        }
        if let workerMemory, Self.bytes(workerMemory) == nil {
            throw ValidationError("--worker-memory must be a size such as 512MiB or 2GB, at least 16 MiB")
        }
    }

    private static func bytes(_ text: String) -> Int64? {
        Language.byteSize.parse(text).flatMap { $0 >= 16 << 20 ? $0 : nil }
    }

    /// The options as the engine's configuration.
    var settings: WorkerSettings {
        var settings = WorkerSettings(notify: { Terminal.reportLine($0) })
        settings.usesWorkers = isolation == .worker
        settings.isSandboxed = sandbox
        settings.requiresSandbox = requireSandbox
        settings.memory = workerMemory.flatMap(Self.bytes)
        return settings
    }
}
