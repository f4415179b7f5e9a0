internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// The work of a check: reads the source's tracks, verifies that they are complete, and evaluates the expectations on
/// the source.
final class CheckWork: OutputWork, Sendable {
    private let task: OutputTask
    private let asset: Asset
    private let fileSize: Int64
    private let inspection: SourceInspection
    private let cancellation: Cancellation

    /// Creates the work. `threads` is the number of threads of each video decoder; nil for the decoder's default.
    init(
        _ task: OutputTask, asset: Asset, contents: AssetContents, threads: Int?, cancellation: Cancellation
    ) throws {
        self.task = task
        self.asset = asset
        self.cancellation = cancellation
        fileSize = contents.fileSize
        var (decoded, packets): ([AssetTrack], [AssetTrack]) = ([], [])
        for planned in task.output.tracks {
            let track = try SessionBuilder.track(of: planned, in: contents)
            if planned.action == .read(decodes: true) { decoded.append(track) } else { packets.append(track) }
        }
        inspection = SourceInspection(
            asset: asset, decoding: decoded, packetsOf: packets, extent: task.input.extent,
            decoderThreads: threads)
    }

    var fraction: Double {
        let all = task.output.expectedDuration.seconds
        return all > 0 ? min(1, inspection.position.seconds / all) : 0
    }

    func run() throws -> OutputFindings {
        let (inspection, cancellation) = (inspection, cancellation)
        try cancellation.begin { inspection.cancel() }
        let found = try inspection.read()
        let tracks = task.output.tracks
        let reports = try tracks.map { planned in
            guard let report = found[planned.source.index] else {
                throw MediaError.internalError("track \(planned.source.index) wasn't read")
            }
            return report
        }
        let verifier = SourceVerifier(damagePolicy: task.input.damagePolicy, isCheck: true)
        for (planned, report) in zip(tracks, reports) where planned.source.mediaType != .subtitle {
            guard let problem = verifier.problem(planned, report) else { continue }
            throw JobFailure("\(task.input.sourceName): \(problem)", at: task.output.destinationLocation)
        }
        let expectations = try ExpectationEvaluator(
            task: task, subject: asset.source, size: fileSize, extent: task.input.extent,
            // The tracks were decoded above, with an error at damage. `decodes` is only accepted if tracks are decoded.
            hasDecoded: task.input.damagePolicy == .fail, environment: asset.environment,
            isCancelled: { cancellation.isCancelled }
        ).evaluate()
        if cancellation.isCancelled { throw CancellationError() }
        return OutputFindings(tracks: reports, expectations: expectations)
    }
}

extension SessionBuilder {
    func check(_ index: Int, cancellation: Cancellation) throws -> CheckWork {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        try checkRemote(contents)
        return try CheckWork(
            plan.tasks[index], asset: asset, contents: contents, threads: plan.scheduling.threads,
            cancellation: cancellation)
    }
}
