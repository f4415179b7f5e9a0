internal import Diagnostics
package import JobPlan
internal import JobSpec

/// The export presets, and whether a media file can be exported with each.
package struct PresetsReport: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
        let name: String
        let summary: String
        let containers: [String]
        /// Reason why the file can't be exported with the preset; nil if it can be, or if there is no file.
        let problem: String?
    }

    let version = 1
    let presets: [Entry]

    private enum CodingKeys: CodingKey { case version, presets }

    /// Creates a report of all presets. If an `asset` is given, plans its export with each.
    package init(of asset: String?, prober: any SourceProber) {
        presets = ExportPreset.all.map { preset in
            Entry(
                name: preset.name, summary: preset.summary, containers: preset.containers,
                problem: asset.flatMap { PresetPlan(preset, of: $0, prober: prober).problem })
        }
    }

    /// Text output of the report.
    package var text: String {
        let width = (presets.map(\.name.count).max() ?? 0) + 2
        return presets.map { preset in
            let name = preset.name + String(repeating: " ", count: width - preset.name.count)
            let what = preset.problem.map { "not possible for this file: " + TextRenderer.printable($0) }
            return "\(name)\(what ?? "\(preset.summary); \(preset.containers.joined(separator: ", "))")\n"
        }.joined()
    }
}
