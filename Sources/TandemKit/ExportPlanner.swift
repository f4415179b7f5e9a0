internal import Dispatch
internal import Engine
internal import Errors
internal import FileSystem
internal import Foundation
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// Plans exports on a separate queue, because reading sources may block. A cancelled planner's reads fail.
struct ExportPlanner: Sendable {
    private let asset: Asset
    private let interrupt = InterruptFlag()
    /// The asset, read in an environment in which a cancel of the planner ends reading; nil if a prober describes it.
    private let source: Asset?
    let prober: any SourceProber
    private static let queue = DispatchQueue(label: "tandem.exports", attributes: .concurrent)

    init(_ asset: Asset) {
        self.asset = asset
        var environment = asset.environment
        environment.sources.interrupt = interrupt
        source = Asset(asset.source, timing: asset.timing, environment: environment)
        prober = LocalProber(environment)
    }

    /// Creates a planner for a source that a prober describes.
    init(_ asset: Asset, prober: any SourceProber) {
        self.asset = asset
        source = nil
        self.prober = prober
    }

    /// An executable plan of one job.
    struct Planned: Sendable {
        let runnable: Pipeline.Runnable
        let task: OutputTask
    }

    /// Plans a request. Throws `CancellationError` after a cancel of the planner or the task.
    func plan(_ request: ExportRequest) async throws -> Planned {
        let result = await work { Result { try planNow(request) } }
        if interrupt.isRaised { throw CancellationError() }
        do {
            return try result.get()
        } catch let error as ExportError where error.kind == .notReadable {
            let kind = await work { sourceKind }
            if interrupt.isRaised { throw CancellationError() }
            throw error.with(kind: kind ?? error.kind)
        }
    }

    /// Returns the asset's tracks. Throws `CancellationError` after a cancel of the planner or the task.
    func tracks() async throws -> [AssetTrack] {
        let result = await work { Result { try (source ?? asset).loadSynchronously().tracks } }
        if interrupt.isRaised { throw CancellationError() }
        return try result.get()
    }

    /// Ends planning in progress, from any thread.
    func cancel() { interrupt.raise() }

    /// Does work on the planners' queue; a cancel of the task cancels the planner.
    private func work<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withTaskCancellationHandler {
            await Self.queue.result { body() }
        } onCancel: {
            cancel()
        }
    }

    /// The kind of the error for which the asset can't be loaded; nil if it can.
    private var sourceKind: ErrorKind? {
        do {
            _ = try source?.loadSynchronously()
            return nil
        } catch {
            return ErrorKind(error)
        }
    }

    /// Returns the presets that can export an asset to at least one of their containers; none after a cancel.
    func compatiblePresets() async -> [ExportPreset] {
        let presets = await work {
            ExportPreset.all.filter { preset in
                preset.containers.contains { container in
                    !interrupt.isRaised
                        && (try? planNow(draftRequest(preset, container))) != nil
                }
            }
        }
        return interrupt.isRaised ? [] : presets
    }

    /// Returns a request for planning only, with a unique temporary destination.
    func draftRequest(_ preset: ExportPreset, _ container: String) -> ExportRequest {
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
