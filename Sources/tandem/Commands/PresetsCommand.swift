internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import FoundationEssentials
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import YAMLDocument

struct PresetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presets",
        abstract: "List the export presets; with a media file, those that support it.",
        discussion: "With a preset, print its settings as YAML; with both, the settings for that file.")

    @Argument(help: "Name of a preset, media file, or both.", completion: .presetsAndFiles)
    var words: [String] = []

    @OptionGroup var access: AccessArguments
    @OptionGroup var workers: WorkerArguments

    @Option(help: "Output format of the list.")
    var format: ProbeFormat = .text

    func validate() throws {
        if words.count > 2 { throw ValidationError("at most a preset and a media file are allowed") }
        if words.count == 2, ExportPreset.named(words[0]) == nil { throw Self.unknown(words[0]) }
        if words.count == 1, !Self.isPath(words[0]), ExportPreset.named(words[0]) == nil {
            throw Self.unknown(words[0])
        }
        if format == .json, words.contains(where: { ExportPreset.named($0) != nil }) {
            throw ValidationError("--format json can't be combined with a preset")
        }
    }

    private static func isPath(_ word: String) -> Bool { word.contains("/") || word.contains(".") }

    private static func unknown(_ name: String) -> ValidationError {
        let help = Suggestion.help(for: name, among: ExportPreset.names)
        return ValidationError(
            "unknown preset `\(name)`; \(help ?? "the path of a media file must contain a `/` or a `.`")")
    }

    func run() throws {
        let access = try access.granted(for: words.suffix(1).filter(Self.isPath))
        if let asset = words.last, ExportPreset.named(asset) == nil {
            _ = try workers.settings.describe(asset, access)
        }
        try workers.settings.probing(access) { prober in try printPresets(prober) }
    }

    private func printPresets(_ prober: any SourceProber) throws {
        switch (words.first.flatMap { ExportPreset.named($0) }, words.last) {
        case (nil, let asset): try list(PresetsReport(of: asset, prober: prober))
        case (let preset?, _) where words.count == 1: Terminal.print(preset.yaml())
        case (let preset?, let asset):
            let presetPlan = PresetPlan(preset, of: asset ?? "", prober: prober)
            guard let plan = presetPlan.plan else {
                throw EngineError(
                    .jobFailed, presetPlan.problem ?? "the file can't be exported with this preset")
            }
            Terminal.print(PresetPlan.yaml(of: preset, plan))
        }
    }

    private func list(_ report: PresetsReport) throws {
        Terminal.print(format == .json ? try JSONFormat.text(of: report) : report.text)
    }
}
