internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The conversion of errors to job failures, with a location in the job file and a remedy.
struct WorkFailures {
    let plan: JobPlan

    /// Returns the job failure for an error.
    func failure(of error: any Error) -> JobFailure {
        if let failure = error as? JobFailure { return failure }
        return JobFailure(
            (concernsSource(error) ? "\(sourceName), \(error)" : "\(error)") + remedy(for: error),
            at: location(of: error), isTransient: TransientErrors.isTransient(error))
    }

    /// Returns the remedy for an error as the end of a sentence; empty if there is none.
    private func remedy(for error: any Error) -> String {
        switch (error as? MediaError)?.withoutSource {
        case .damaged?, .truncated?, .lostPages?, .joined(_, _, isSkippable: true)?: break
        case .reading(_, _, let error)? where error.isInvalidData: break
        default: return ""
        }
        return plan.inputs.contains { $0.damagePolicy == .fail }
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

    /// Returns the part of the job file that an error concerns.
    private func location(of error: any Error) -> SourceRange {
        let only = plan.outputs.count == 1 ? plan.outputs.first : nil
        let tracks = plan.outputs.flatMap { output in output.tracks.enumerated().map { ($0, $1) } }
        if error is SystemError || error is PublishingError {
            return only?.destinationLocation ?? plan.location
        }
        switch error as? MediaError {
        case .writing: return only?.destinationLocation ?? plan.location
        case .nothingFits, .overLimit:
            return plan.outputs.lazy.compactMap(\.sizeLimitLocation).first ?? plan.location
        case .reading(let track, _, _), .damaged(let track, _), .truncated(let track, _, _),
            .discontinuity(let track, _, _), .noSamples(let track), .noTimes(let track),
            .undecodable(let track, _), .unorderedTimes(let track, _), .decodedLate(let track, _, _),
            .hiddenBetween(let track, _),
            .noPackets(let track, _), .lostPackets(let track, _, _), .noKeyFrame(let track, _),
            .beforeKeyFrame(let track, _), .lostPages(let track, _, _), .joined(let track, _, _),
            .changedHeaders(let track, _):
            return tracks.first { track.hasPrefix("track \($0.1.source.index) ") }?.1.location
                ?? plan.location
        case .encoding(let track, _), .incompatiblePacket(let track, _, _, _):
            // Each writer numbers its own tracks, so the number alone may refer to several outputs.
            let locations = Set(
                tracks.filter { track == "\($0.1.source.mediaType.rawValue) \($0.0)" }.map(\.1.location))
            return locations.count == 1 ? locations.first ?? plan.location : plan.location
        default: return plan.location
        }
    }
}
