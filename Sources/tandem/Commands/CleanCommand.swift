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
    @OptionGroup var state: StateArguments
    @OptionGroup var reporting: ReportArguments

    @Flag(help: "Removes what is listed.")
    var yes = false

    @Flag(help: "Waits for a run that uses the state folder, instead of failing.")
    var wait = false

    func run() throws {
        let set = try spec.load()
        try reporting.require(set.diagnostics, of: set)
        let locks = try state.location.lock(set, waits: wait)
        let memory = try state.location.open(set)
        // Patterns are expanded; no source is probed.
        let (destinations, stills, sources, problems) = BatchPlanner.places(
            set.files, beneath: set.access.root)
        try reporting.report(problems, of: set)
        if problems.hasErrors { throw ExitCode(RunStatus.specWrong) }
        let strays = memory.strays(
            asked: destinations, stills: stills, sources: Set(sources.map(SourceFileKey.init)))
        var failed = false
        for stray in strays {
            let path = TextRenderer.printable(stray.path)
            if !yes {
                Terminal.print(SafeText.line("\(path)  (\(stray.job) of \(stray.file))") + "\n")
                continue
            }
            do throws(StateError) {
                Terminal.print(
                    try memory.remove(stray) ? "removed \(path)\n" : "kept \(path): it was changed\n")
            } catch {
                failed = true
                Terminal.say("error: \(error)")
            }
        }
        withExtendedLifetime(locks) {}
        if strays.isEmpty {
            Terminal.report("nothing that was published is out of use\n")
        } else if !yes {
            Terminal.report("\(strays.count) to remove; --yes removes them\n")
        }
        if failed { throw ExitCode(RunStatus.jobFailed) }
    }
}
