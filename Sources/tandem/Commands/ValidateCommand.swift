internal import ArgumentParser
internal import Engine

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check job files and the files that they include, without opening media.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var reporting: ReportArguments
    @OptionGroup var workers: WorkerArguments

    func run() throws {
        let set = try variables.load(spec.files, access.granted(for: spec.files), allowsNoJobs: true)
        let found = try workers.settings.probing(set.access) { prober in set.loaded.allDiagnostics(prober) }
        try reporting.require(found, of: set)
    }
}
