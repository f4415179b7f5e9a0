internal import ArgumentParser
internal import Diagnostics
internal import Dispatch
internal import JobPlan
internal import JobRun
internal import JobSpec
internal import LibAV
internal import Media

/// In which processes media are read.
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

    /// The workers; nil where jobs are done in this process. `state` is a folder that only this run uses, nil where it
    /// has none.
    func pool(
        in state: StateFolder?, _ access: CommandAccess, onlyLooks: Bool = false
    ) throws -> WorkerPool? {
        let isRequired = requireSandbox || access.isUntrusted
        if isRequired, isolation == .none || !sandbox {
            throw ValidationError("--untrusted and --require-sandbox want workers and their sandbox")
        }
        guard isolation == .worker else {
            FirstWorker.release()
            return nil
        }
        var options = WorkerPool.Options()
        options.onlyLooks = onlyLooks
        options.isLockedDown = sandbox
        options.memory = workerMemory.flatMap(Self.bytes) ?? ResourceBudget.ofThisMachine().memory
        let pool = try StateArguments.must { () throws(StateError) in
            try WorkerPool(options, environment: access.sources, in: state)
        }
        if isRequired {
            pool.warm()
            let lacking = pool.lacking(within: 10)
            if lacking?.isEmpty != true {
                let what = lacking?.joined(separator: ", ") ?? "no worker starts"
                Terminal.say("error: the sandbox is required, and this machine lacks: \(what)")
                throw ExitCode.environment
            }
        }
        return pool
    }

    /// Lets a command that writes no output look into sources and try settings.
    func probing<Result>(
        _ access: CommandAccess, _ body: (any SourceProber) throws -> Result
    ) throws -> Result {
        let pool = try pool(in: nil, access, onlyLooks: true)
        defer {
            say(pool)
            pool?.close()
        }
        return try body(pool ?? access.prober)
    }

    /// What is in one media file, which the command line names.
    func describe(
        _ asset: String, _ access: CommandAccess, _ timing: AssetTiming = .fast
    ) throws -> SourceDescription {
        let path =
            SourceLocation.isRemote(asset) || asset.hasPrefix("/")
            ? asset : StateFolder(path: asset).absolute
        do {
            return try probing(access) { prober in try prober.description(of: path, timing) }
        } catch let error as SourceProblem {
            Terminal.report(
                "tandem: \(TextRenderer.printable(asset)): \(TextRenderer.printable("\(error)"))\n")
            throw ExitCode.jobFailed
        }
    }

    /// After a run: what its workers could not be kept from.
    func say(_ pool: WorkerPool?) {
        guard sandbox, let lacking = pool?.lacking(within: 0), !lacking.isEmpty else { return }
        Terminal.report("note: workers ran without \(lacking.joined(separator: ", "))\n")
    }
}
