internal import Diagnostics
internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Plans a source's export with a preset, without writing anything.
struct PresetTrial {
    /// What would be done; nil where it can't be.
    let plan: OutputTask?
    /// Why it can't.
    let problem: String?

    /// Tries the preset in its containers, one after the other.
    init(_ preset: ExportPreset, of asset: String, prober: any SourceProber) {
        var first: String?
        for container in preset.containers {
            let result = Self.plan(preset, asset, container, prober)
            if let plan = result.plan {
                (self.plan, problem) = (plan, nil)
                return
            }
            first = first ?? result.problem
        }
        (plan, problem) = (nil, first)
    }

    private static func plan(
        _ preset: ExportPreset, _ asset: String, _ container: String, _ prober: any SourceProber
    ) -> (plan: OutputTask?, problem: String?) {
        let isRemote = SourceLocation.isRemote(asset)
        // Beside the file, where --root lets something be.
        let folder = SystemSpecFiles.folder(of: isRemote ? "presets" : asset)
        var request = ExportRequest(
            source: .file(isRemote ? asset : folder + "/" + (asset.pathParts.last ?? asset)), preset: preset,
            container: container, destination: folder + "/tandem-presets")
        request.ifExists = .replace
        let result = request.jobFile(
            options: SpecOptions(allowsNetwork: prober.environment.allowsNetwork))
        guard let file = result.file, !result.sink.hasErrors else {
            return (nil, result.sink.diagnostics.first { $0.severity == .error }?.message)
        }
        let planned = BatchPlanner.plan([file], prober: prober)
        if let plan = planned.plan.jobs.first?.tasks.first { return (plan, nil) }
        return (nil, planned.diagnostics.diagnostics.first { $0.severity == .error }?.message)
    }

    /// The preset's rules as they come out for the source: a rule for each of its tracks, with the size that it gets.
    static func yaml(of preset: ExportPreset, _ plan: OutputTask) -> String {
        var lines = ["container: \(plan.output.container)", "tracks:"]
        for track in plan.output.tracks {
            let kind = track.source.mediaType
            let position =
                plan.input.sourceDescription.tracks(of: kind).firstIndex { $0.index == track.source.index }
                ?? 0
            var action = ExportPreset.Rule.action(nil)
            if case .encode(let encoding) = track.action {
                var settings = preset.rules.first { $0.kind == kind.rawValue }?.settings ?? []
                if let size = settings.firstIndex(where: { $0.key == "size" }) {
                    let encoder = encoding.encoder
                    settings[size].value = "\(encoder.width)x\(encoder.height)"
                    // A frame that is as small already keeps its size, and its pixels their shape.
                    if track.source.width - encoder.width < 2, track.source.height - encoder.height < 2 {
                        settings.removeAll { $0.key == "size" || $0.key == "fit" }
                    }
                }
                if kind == .audio, !settings.contains(where: { $0.key == "bitrate" }),
                    let rate = encoding.encoder.bitRate
                {
                    settings.append(("bitrate", "\(rate)"))
                }
                action = ExportPreset.Rule.action(settings)
            }
            lines.append(
                "  - { \(kind.rawValue): \(position), \(action) }    # track \(track.source.index): \(LedgerText.name(track.source))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
