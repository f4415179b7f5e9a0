internal import Dispatch
internal import Engine
internal import FileSystem
internal import Foundation
internal import JobPlan
internal import JobSpec
internal import Locking
internal import Media

/// Plans an export on a queue of its own: sources are read, which may take its time.
struct ExportPlanner: Sendable {
    let prober: LocalProber
    private static let queue = DispatchQueue(label: "tandem.exports", attributes: .concurrent)

    init(_ asset: Asset) { prober = LocalProber(asset.environment) }

    /// A plan of one job that can be carried out.
    struct Planned: Sendable {
        let runnable: Pipeline.Runnable
        let task: OutputTask
    }

    func plan(_ request: ExportRequest) async throws -> Planned {
        try await Self.queue.result { try planNow(request) }
    }

    /// The presets by which a source can be exported, each in its first container that takes it.
    func compatible(_ asset: Asset) async -> [ExportPreset] {
        await Self.queue.result {
            ExportPreset.all.filter { preset in
                preset.containers.contains { container in
                    (try? planNow(trial(of: asset, preset, container))) != nil
                }
            }
        }
    }

    /// An export that is planned and not carried out.
    func trial(of asset: Asset, _ preset: ExportPreset, _ container: String) -> ExportRequest {
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
