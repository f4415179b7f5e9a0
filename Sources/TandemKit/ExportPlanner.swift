internal import Diagnostics
internal import Dispatch
internal import Errors
internal import FileSystem
internal import Foundation
internal import JobPlan
internal import JobSpec
internal import JobStages
internal import LibAV
internal import Locking
internal import Media

/// Plans exports on a separate queue, because reading sources and opening encoders may block. A cancelled planner's reads
/// fail, and its callers don't wait for an encoder that is being opened.
struct ExportPlanner: Sendable {
    private let asset: Asset
    private let interrupt = InterruptFlag()
    private let cancellation = CancellationSignal()
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
        let job: Pipeline.RunnableJob
        let task: OutputTask
    }

    /// Plans a request. Throws `CancellationError` after a cancel of the planner or the task.
    func plan(_ request: ExportRequest) async throws -> Planned {
        do {
            return try await work { Result { try planNow(request) } }.get()
        } catch let error as ExportError where error.kind == .notReadable {
            throw error.with(kind: try await work { sourceKind } ?? error.kind)
        }
    }

    /// Returns the asset's tracks. Throws `CancellationError` after a cancel of the planner or the task.
    func tracks() async throws -> [AssetTrack] {
        try await work { Result { try (source ?? asset).loadSynchronously().tracks } }.get()
    }

    /// Ends planning in progress, from any thread.
    func cancel() {
        interrupt.raise()
        cancellation.raise()
    }

    /// Does work on the planners' queue; a cancel of the task cancels the planner. Throws `CancellationError` at once after
    /// a cancel of the planner.
    private func work<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async throws(CancellationError) -> Value {
        let value: Value? = await withTaskCancellationHandler {
            await cancellation.result { completion in
                Self.queue.async { @Sendable in completion(body()) }
            }
        } onCancel: {
            cancel()
        }
        guard let value, !cancellation.isRaised else { throw CancellationError() }
        return value
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
        let presets = try? await work {
            ExportPreset.all.filter { preset in
                preset.containers.contains { container in
                    !interrupt.isRaised
                        && (try? planNow(draftRequest(preset, container))) != nil
                }
            }
        }
        return presets ?? []
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
        let runnable = try ExportError.converting { () throws(Pipeline.Rejection) in
            try Pipeline.Loaded(request.jobFile(options: options)).checked().opened(by: prober).planned()
                .runnable()
        }
        let diagnostics = runnable.planned.diagnostics
        guard !diagnostics.hasErrors, let job = runnable.jobs.first, let task = job.plan.tasks.first
        else { throw ExportError(diagnostics.diagnostics) }
        return Planned(job: job, task: task)
    }
}
