internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobRun
internal import JobSpec

struct CleanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean",
        abstract: "List outputs that were published and are no longer requested; with --yes, remove them.",
        discussion: """
            The current job files, with this --set and this environment, determine which outputs are requested. For still images \
            that are named by ${image.number} or ${image.time}, these are the images of the last run. An output that \
            was changed since it was published, or that is a source, is neither listed nor removed.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var reporting: ReportArguments

    @Flag(help: "Remove the listed outputs.")
    var yes = false

    @Flag(help: "If another run uses the state folder, wait for it instead of failing.")
    var wait = false

    func run() throws {
        let set = try variables.load(spec.files, access.granted(for: spec.files))
        if reporting.strictness.status(of: set.diagnostics) != nil {
            try reporting.require(set.diagnostics, of: set)
        }
        let locks = try state.location.lock(set, waits: wait)
        let strays = StrayOutputs(set, state: try state.location.open(set))
        var found = set.diagnostics
        found.add(strays.problems)
        try reporting.report(found, of: set)
        if strays.problems.hasErrors { throw ExitCode(RunStatus.invalidSpec) }
        var failed = false
        for stray in strays.all {
            guard yes else {
                reporting.printResult(SafeText.line("\(stray.path)  (\(stray.job) of \(stray.file))") + "\n")
                continue
            }
            do throws(EngineError) {
                let isRemoved = try strays.remove(stray)
                reporting.printResult(
                    SafeText.line(
                        isRemoved ? "removed \(stray.path)" : "kept \(stray.path), which was changed")
                        + "\n")
            } catch {
                failed = true
                Terminal.reportLine("error: \(error)")
            }
        }
        withExtendedLifetime(locks) {}
        if strays.all.isEmpty {
            Terminal.report("no outputs to remove\n")
        } else if !yes {
            Terminal.report("\(counted(strays.all.count, "output")) to remove; --yes removes them\n")
        }
        if failed { throw ExitCode(RunStatus.jobFailed) }
    }
}
