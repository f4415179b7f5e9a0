internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobRun
internal import JobSpec

struct CleanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean",
        abstract: "Lists outputs that were published and are no longer asked for; removes them with --yes.",
        discussion: """
            What is asked for is told by the job files as they are now, with this --set and this environment; of stills that are \
            named by ${image.number} or ${image.time}, which their sources tell, it is what was made last. An output that \
            somebody changed since it was published, or that is a source, is never listed and never removed.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var reporting: ReportArguments

    @Flag(help: "Removes what is listed.")
    var yes = false

    @Flag(help: "Waits for a run that uses the state folder, instead of failing.")
    var wait = false

    func run() throws {
        let set = try variables.load(spec.files, access)
        try reporting.require(set.diagnostics, of: set)
        let locks = try state.location.lock(set, waits: wait)
        let strays = StrayOutputs(set, state: try state.location.open(set))
        try reporting.report(strays.problems, of: set)
        if strays.problems.hasErrors { throw ExitCode(RunStatus.specWrong) }
        var failed = false
        for stray in strays.all {
            guard yes else {
                Terminal.print(SafeText.line("\(stray.path)  (\(stray.job) of \(stray.file))") + "\n")
                continue
            }
            do throws(EngineError) {
                let isRemoved = try strays.remove(stray)
                Terminal.print(
                    SafeText.line(isRemoved ? "removed \(stray.path)" : "kept \(stray.path): it was changed")
                        + "\n")
            } catch {
                failed = true
                Terminal.say("error: \(error)")
            }
        }
        withExtendedLifetime(locks) {}
        if strays.all.isEmpty {
            Terminal.report("nothing that was published is out of use\n")
        } else if !yes {
            Terminal.report("\(strays.all.count) to remove; --yes removes them\n")
        }
        if failed { throw ExitCode(RunStatus.jobFailed) }
    }
}
