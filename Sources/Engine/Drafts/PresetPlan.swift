internal import Diagnostics
internal import ExactStrings
package import JobPlan
package import JobSpec
internal import LibAV
internal import Media

/// The plan for exporting a source with a preset, for reports.
package struct PresetPlan {
    /// Plan of the export; nil if the source can't be exported with the preset.
    package let plan: OutputTask?
    /// Reason why the source can't be exported; nil if it can be.
    package let problem: String?

    /// Plans the export for each of the preset's containers, until one succeeds.
    package init(_ preset: ExportPreset, of asset: String, prober: any SourceProber) {
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
        // The destination is in the source's folder, which `--root` permits.
        let folder = SystemSpecFiles.folder(of: isRemote ? "presets" : asset)
        var request = ExportRequest(
            source: .file(isRemote ? asset : folder + "/" + (asset.pathParts.last ?? asset)), preset: preset,
            container: container, destination: folder + "/tandem-presets")
        request.ifExists = .replace
        let result = request.jobFile(
            options: SpecOptions(allowsNetwork: prober.environment.allowsNetwork))
        func firstError(_ sink: DiagnosticSink) -> String? {
            sink.diagnostics.first { $0.severity == .error }?.message
        }
        do throws(Pipeline.Rejection) {
            let planned = try Pipeline.Loaded(result).checked().opened(by: prober).planned()
            if let plan = planned.plan.jobs.first?.tasks.first { return (plan, nil) }
            return (nil, firstError(planned.diagnostics))
        } catch {
            return (nil, firstError(error.diagnostics))
        }
    }

    /// Returns the preset as job file text for one source: the container, and a rule for each track with the planned
    /// audio bit rate, and with the planned size if the frame is scaled.
    package static func yaml(of preset: ExportPreset, _ plan: OutputTask) -> String {
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
                    // If the frame isn't scaled down, size and pixel aspect ratio are unchanged.
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
