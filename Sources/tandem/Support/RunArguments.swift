internal import ArgumentParser
internal import Engine
internal import JobRun

/// Options that `tandem run` and `tandem watch` have in common.
struct RunArguments: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: "Maximum number of concurrent jobs (default: chosen from the jobs' estimated CPU cost).")
    var jobs: Int?

    @Flag(help: "Keep an output that fails its expectations as NAME.failed.EXT beside its destination.")
    var keepFailed = false

    @Flag(exclusivity: .exclusive, help: "Print only errors, or also list jobs that are up to date or wait.")
    var verbosity = VerbosityFlag.normal

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs must be from 1 to 256") }
    }
}

extension RunOptions {
    /// Creates the options of a run on this machine.
    init(
        _ spec: SpecArguments, _ variables: VariableArguments, _ access: AccessArguments, _ run: RunArguments,
        _ destinations: ReportDestinations, _ state: StateArguments, _ cache: CacheArguments,
        _ workers: WorkerArguments
    ) throws {
        self.init(state: state.location, workers: workers.settings, console: Terminal.console)
        files = spec.files
        self.variables = try variables.values()
        self.cache = try cache.settings(isUntrusted: access.untrusted)
        (root, isUntrusted, allowsNetwork) = (access.root, access.untrusted, access.allowNetwork)
        policy = RunPolicy(budget: .ofThisMachine(jobs: run.jobs))
        policy.keepsFailed = run.keepFailed
        self.destinations = destinations
        verbosity = run.verbosity.verbosity
    }
}

/// Flags for the amount of output of a run.
enum VerbosityFlag: String, EnumerableFlag {
    case quiet, verbose, normal

    static func visibility(for value: VerbosityFlag) -> ArgumentVisibility {
        value == .normal ? .hidden : .default
    }

    static func name(for value: VerbosityFlag) -> NameSpecification {
        value == .normal ? .customLong("no-verbose") : .shortAndLong
    }

    var verbosity: ProgressDisplay.Verbosity {
        switch self {
        case .quiet: .quiet
        case .verbose: .verbose
        case .normal: .normal
        }
    }
}
