internal import Dispatch
internal import Engine
internal import FileSystem
internal import Foundation
internal import JobPlan
internal import JobSpec
internal import Locking
internal import Media

/// Plans exports on a separate queue, because reading sources may block.
struct ExportPlanner: Sendable {
    let prober: LocalProber
    private static let queue = DispatchQueue(label: "tandem.exports", attributes: .concurrent)

    init(_ asset: Asset) { prober = LocalProber(asset.environment) }

    /// An executable plan of one job.
    struct Planned: Sendable {
        let runnable: Pipeline.Runnable
        let task: OutputTask
    }

    func plan(_ request: ExportRequest) async throws -> Planned {
        try await Self.queue.result { try planNow(request) }
    }

    /// Returns the presets that can export an asset to at least one of their containers.
    func compatible(_ asset: Asset) async -> [ExportPreset] {
        await Self.queue.result {
            ExportPreset.all.filter { preset in
                preset.containers.contains { container in
                    (try? planNow(draftRequest(of: asset, preset, container))) != nil
                }
            }
        }
    }

    /// Returns a request for planning only, with a unique temporary destination.
    func draftRequest(of asset: Asset, _ preset: ExportPreset, _ container: String) -> ExportRequest {
        let folder = prober.environment.root.path ?? NSTemporaryDirectory()
        var request = ExportRequest(
            source: asset.source, preset: preset, container: container,
            destination: folder + "/.tandem-\(UUID().uuidString)")
        request.timing = asset.timing
        return request
    }

    func planNow(_ request: ExportRequest) throws -> Planned {
        let options = SpecOptions(allowsNetwork: prober.environment.allowsNetwork)
        let planned = try ExportError.converting { () throws(Pipeline.Rejection) in
            try Pipeline.Loaded(request.jobFile(options: options)).checked().opened(by: prober).planned()
        }
        guard !planned.conflicts.hasErrors, !planned.diagnostics.hasErrors,
            let task = planned.plan.jobs.first?.tasks.first
        else { throw ExportError(planned.conflicts.diagnostics + planned.diagnostics.diagnostics) }
        let runnable = try ExportError.converting { () throws(Pipeline.Rejection) in try planned.runnable() }
        return Planned(runnable: runnable, task: task)
    }
}
