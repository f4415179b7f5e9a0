internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Print a commented job file for a media file.")

    @Argument(help: "Media file, or URL with --allow-network.", completion: .file())
    var asset: String

    @OptionGroup var access: AccessArguments
    @OptionGroup var workers: WorkerArguments

    func run() throws {
        let access = try access.granted(for: [asset])
        let source = try workers.settings.describe(asset, access)
        let template = JobFileTemplate(path: asset, source: source, schema: InstalledSchema.path)
        let draft = try workers.settings.probing(access) { prober in JobFileDraft(template, prober: prober) }
        guard let text = draft.text else {
            let why = draft.problems.first ?? "no track that this build can decode"
            throw EngineError(.jobFailed, "\(asset): no track can be encoded: \(why)")
        }
        Terminal.print(text)
    }
}
