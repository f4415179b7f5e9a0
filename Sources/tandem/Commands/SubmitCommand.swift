internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobRun
internal import JobSpec

struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Plan job files, and run the plan in parts on a cluster.",
        discussion: """
            The plan is written to a folder that all machines of the cluster share. Follow the batch with `tandem status`, end it \
            with `tandem cancel`, and run what is missing with `tandem resubmit`.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var reporting: ReportArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var cache: CacheArguments
    @OptionGroup var workers: WorkerArguments

    @Option(
        help:
            "Engine that runs the parts: Slurm, processes on this machine, or Kubernetes or Open Job Description, for which a file is written."
    )
    var engine: ClusterEngineKind

    @Option(
        help: ArgumentHelp("New folder for plan and results, which all machines share.", valueName: "dir"),
        completion: .directory)
    var out: String

    @Option(
        help:
            "Number of parts, besides those that encode chunks (default: a minute of estimated processor time each, on average)."
    )
    var shards: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Submit only this job or job instance, and the jobs that it requires; repeatable.",
            valueName: "id"), completion: .jobs)
    var only: [String] = []

    @OptionGroup var requested: ResourceArguments

    @Option(
        help:
            "Path of this program on the other machines (default: as on this one; in a container: /usr/bin/tandem).",
        completion: .file())
    var program: String?

    @Flag(help: "Don't wait for the end of the batch.")
    var detach = false

    func validate() throws {
        if let problem = URLScheme.problem(of: "--out", out) { throw ValidationError(problem) }
        if let shards, !(1...ShardFolder.maxParts).contains(shards) {
            throw ValidationError("--shards must be from 1 to \(ShardFolder.maxParts)")
        }
        if program?.hasPrefix("/") == false { throw ValidationError("--program must be an absolute path") }
        if out.isEmpty { throw ValidationError("--out must be the path of a new folder") }
        if let problem = requested.resources.problem(with: engine) { throw ValidationError(problem) }
    }

    func run() async throws {
        let paths = spec.files.map { StateFolder(path: $0).absolute }
        let set = try variables.load(paths, access.granted(for: paths))
        let batch = ClusterBatch(path: out, beneath: set.access.root)
        let submission = try await BatchSubmission(of: batch, to: engine, shards: shards)
        let result = try reporting.passing(set) {
            try DryRun(of: set, reporting.strictness, state: state.location, workers: workers.settings)
                .plan(only: only, inParts: true)
        }
        var all = set.diagnostics
        all.add(result.planned.diagnostics)
        try reporting.report(all, of: set)
        if let status = reporting.strictness.status(of: all),
            !result.planned.canBeSplit(reporting.strictness, all)
        {
            throw ExitCode(status)
        }
        let parts = try submission.parts(of: result.planned.plan, result.forecast)
        parts.notes.forEach(Terminal.reportLine)
        var command = try PartCommand(
            program: program ?? engine.program, root: set.access.rootFolder,
            isUntrusted: access.untrusted, allowsNetwork: access.allowNetwork, workers: workers.settings)
        command.cache = try cache.settings(isUntrusted: access.untrusted)?.absolute
        let submitted = try await submission.submit(
            result.planned, of: set, variables: try variables.values(), in: parts,
            requested.resources, command)
        Terminal.reportLine(submitted.text)
        if detach || !submitted.isStarted {
            return Terminal.reportLine("print the state: tandem status \(SafeText.shellWord(out))")
        }
        try await batch.finish()
    }
}

extension ClusterEngineKind: ExpressibleByArgument {}
