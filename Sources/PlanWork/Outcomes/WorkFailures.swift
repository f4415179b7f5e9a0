internal import Diagnostics
internal import Errors
internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The conversion of errors to job failures with a location in the job file and a remedy.
struct WorkFailures {
    let plan: JobPlan
    /// The task in which the errors occurred; nil for errors outside the tasks.
    var task: WorkTask?

    /// Returns the job failure for an error.
    func failure(of error: any Error) -> JobFailure {
        if let failure = error as? JobFailure { return failure }
        return JobFailure(
            (concernsSource(error) ? "\(sourceName), \(error)" : "\(error)") + remedy(for: error),
            at: location(of: error), kind: ErrorKind(error), isTransient: TransientErrors.isTransient(error))
    }

    /// Returns the remedy for an error in parentheses; empty if there is none.
    private func remedy(for error: any Error) -> String {
        switch (error as? MediaError)?.withoutSource {
        case .damaged?, .truncated?, .lostPages?, .joined(_, _, isSkippable: true)?: return skipRemedy
        case .reading(_, _, let error)? where error.isInvalidData: return skipRemedy
        case .noTimes?: return " (use `encode`, which determines the times by decoding)"
        case .unorderedTimes?, .decodedLate?, .hiddenBetween?, .changedHeaders?: return " (use `encode`)"
        case .gap?: return " (use `encode`, which fills the gap with silence)"
        case .startsBetweenKeyFrames?:
            return " (begin the range at a keyframe, use mp4 or mov without `fragment`, or `encode`)"
        case .endsInsideGroup?:
            return " (end the range at a keyframe, use mp4 or mov without `fragment`, or `encode`)"
        default: return ""
        }
    }

    /// The remedy for damaged data, unless it is skipped already.
    private var skipRemedy: String {
        plan.inputs.contains { $0.damagePolicy == .fail }
            ? " (use `on_damage: skip` to skip and count damaged data)" : ""
    }

    private func concernsSource(_ error: any Error) -> Bool {
        switch error as? MediaError {
        case .reading, .damaged, .discontinuity, .truncated, .noSamples, .noTimes, .changedHeaders,
            .undecodable, .noPackets, .noKeyFrame, .beforeKeyFrame, .lostPages, .joined,
            .decodedLate:
            true
        default: false
        }
    }

    private var sourceName: String {
        if case .pattern? = plan.inputs.first?.source { return plan.sourceName }
        return plan.sourceName.pathParts.last ?? plan.sourceName
    }

    /// Returns the location in the job file that an error concerns.
    private func location(of error: any Error) -> SourceRange {
        let concerned = task.map { plan.outputs(of: $0) } ?? Array(plan.outputs.indices)
        let only = concerned.count == 1 ? plan.outputs[concerned[0]] : nil
        if error is SystemError || error is PublishingError {
            return only?.destinationLocation ?? plan.location
        }
        let mediaError = error as? MediaError
        switch mediaError {
        case .writing: return only?.destinationLocation ?? plan.location
        case .nothingFits, .overLimit:
            return concerned.lazy.compactMap { plan.outputs[$0].media?.sizeLimitLocation }.first
                ?? plan.location
        default: break
        }
        let tracks = concerned.flatMap { plan.outputs[$0].tracks }
        switch mediaError?.track {
        case .source(let index, _)?:
            return tracks.first { $0.takes(index) }?.location ?? plan.location
        case .output(_, _, let id?)?: return plan.track(withID: id)?.location ?? plan.location
        case .output(_, _, nil)?, .part?:
            return only?.tracks.count == 1 ? only?.tracks[0].location ?? plan.location : plan.location
        case nil: return plan.location
        }
    }
}
