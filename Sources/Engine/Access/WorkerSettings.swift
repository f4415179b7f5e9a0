internal import Glibc
package import JobPlan
package import JobRun
internal import LibAV
package import Media

/// Settings of the worker processes that read media.
package struct WorkerSettings: Sendable {
    /// Whether media are read in workers instead of this process.
    package var usesWorkers = true
    /// Whether workers are sandboxed.
    package var isSandboxed = true
    /// Whether an incomplete sandbox is an error.
    package var requiresSandbox = false
    /// Memory limit of a worker in bytes; nil for 80 % of the available memory.
    package var memory: Int64?
    /// Receives messages for the user.
    package var notify: @Sendable (String) -> Void

    /// Creates default settings, with sandboxed workers.
    package init(notify: @escaping @Sendable (String) -> Void) { self.notify = notify }

    /// Creates the pool of workers; nil if media are read in this process. `state` is a folder that only this run uses;
    /// nil if there is none. `onlyProbes` is true for commands that write no output.
    /// - Throws: A usage error if a required sandbox is disabled; an environment error if a part of it isn't available.
    package func pool(
        in state: StateFolder?, _ access: SourceAccess, onlyProbes: Bool = false
    ) throws(EngineError) -> WorkerPool? {
        let isRequired = requiresSandbox || access.isUntrusted
        if isRequired, !usesWorkers || !isSandboxed {
            throw EngineError(.usage, "--untrusted and --require-sandbox require sandboxed workers")
        }
        guard usesWorkers else {
            FirstWorker.release()
            return nil
        }
        var options = WorkerPool.Options()
        options.onlyProbes = onlyProbes
        options.isLockedDown = isSandboxed
        options.memory = memory ?? ResourceBudget.ofThisMachine().memory
        let pool = try StateLocation.convertingErrors { () throws(StateError) in
            try WorkerPool(options, environment: access.sources, in: state)
        }
        if isRequired {
            pool.prestart()
            let lacking = pool.missingSandboxParts(within: 10)
            if lacking?.isEmpty != true {
                throw EngineError(
                    .environment,
                    "the sandbox is required, and this machine lacks: "
                        + (lacking?.joined(separator: ", ") ?? "no worker can be started"))
            }
        }
        return pool
    }

    /// Calls `body` with a prober, for commands that write no output.
    package func probing<Result>(
        _ access: SourceAccess, _ body: (any SourceProber) throws -> Result
    ) throws -> Result {
        let pool = try pool(in: nil, access, onlyProbes: true)
        defer {
            report(pool)
            pool?.close()
        }
        return try body(pool ?? access.prober)
    }

    /// Probes a media file given on the command line.
    /// - Throws: An error if the file can't be read.
    package func describe(
        _ asset: String, _ access: SourceAccess, _ timing: AssetTiming = .fast
    ) throws -> SourceDescription {
        let path =
            SourceLocation.isRemote(asset) || asset.hasPrefix("/") ? asset : StateFolder(path: asset).absolute
        do {
            return try probing(access) { prober in try prober.description(of: path, timing) }
        } catch let error as SourceProblem {
            throw EngineError(.jobFailed, "\(asset): \(error)")
        }
    }

    /// Reports the parts of the sandbox that workers could not enable.
    package func report(_ pool: WorkerPool?) {
        guard isSandboxed, let lacking = pool?.missingSandboxParts(within: 0), !lacking.isEmpty else {
            return
        }
        notify("note: workers ran without \(lacking.joined(separator: ", "))")
    }
}
