internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing
internal import Streaming

/// The verification of a finished output: it is read back and compared with the plan, and its expectations are evaluated. The
/// outputs of a job are verified concurrently.
struct OutputVerification: Sendable {
    let task: OutputTask
    /// Temporary file of the output.
    let file: TemporaryFile
    let environment: MediaEnvironment
    /// Polled during long checks; returning true cancels them.
    let isCancelled: @Sendable () -> Bool

    /// An output that a session wrote.
    struct Written: Sendable {
        var reports: [TrackReport]
        /// Evidence from creating the edges of smart cuts, by track; nil for a copy of an output.
        var evidence: [CutEvidence]?
        var stop: MediaTime?
        var recorder: SegmentRecorder?
    }

    /// An output that is as planned.
    struct Verified: Sendable {
        let written: Written
        /// Byte ranges of a rendition's files; empty for other outputs.
        let parts: [TemporaryFile.Part]
        let rendition: StreamingRendition?
        /// Data of the source that the plan keeps and the output lacks.
        let losses: [String]
        let expectations: [ExpectationResult]
    }

    /// Verifies an output.
    /// - Throws: `JobFailure` if it isn't as planned, `CancellationError` after a cancellation.
    func verified(_ written: Written) throws -> Verified {
        let (output, reports) = (task.output, written.reports)
        guard let media = output.media else { throw MediaError.internalError("the output has no container") }
        // The number of events is unknown at planning if the source is the output of another job.
        if reports.allSatisfy({ $0.writtenPackets == 0 }),
            output.tracks.allSatisfy({ $0.source.mediaType == .subtitle }), !output.tracks.isEmpty
        {
            throw failure("the output has no subtitle event")
        }
        let (losses, tracks): ([String], [AssetTrack])
        switch try OutputVerifier(
            task: task, media: media, reports: reports, cutEvidence: written.evidence, stop: written.stop,
            environment: environment, isCancelled: isCancelled
        ).verdict(path: file.reopenPath) {
        case .complete(let lost, let found): (losses, tracks) = (lost, found)
        case .defective(let problem): throw failure(problem)
        }
        let inspector = written.recorder.map {
            RenditionInspector(plan: output, tracks: tracks, recorder: $0)
        }
        if let problem = try inspector?.problem() { throw failure(problem) }
        return Verified(
            written: written, parts: inspector?.parts ?? [], rendition: try inspector?.description(),
            losses: losses, expectations: try expectations())
    }

    /// Evaluates the expectations.
    /// - Throws: `CancellationError` after a cancellation.
    func expectations() throws -> [ExpectationResult] {
        let results = try ExpectationEvaluator(
            task: task, subject: .file(file.reopenPath), size: file.size, environment: environment,
            isCancelled: isCancelled
        ).evaluate()
        if isCancelled() { throw CancellationError() }
        return results
    }

    private func failure(_ problem: String) -> JobFailure {
        JobFailure(task.output.prefixed(problem), at: task.output.location)
    }
}

extension OutputPlan {
    /// Returns a problem, prefixed with the output's id if the job has several outputs.
    func prefixed(_ problem: String) -> String { id.map { "output \($0): \(problem)" } ?? problem }
}
