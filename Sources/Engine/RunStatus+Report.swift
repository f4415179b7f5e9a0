internal import Diagnostics
package import JobRun
package import JobStages

extension RunStatus {
    /// The status in reports and in the state.
    package var reportStatus: RunReport.Status {
        switch self {
        case .succeeded: .succeeded
        case .interrupted, .terminated: .interrupted
        case .jobFailed, .invalidSpec, .environment, .expectationFailed, .usage: .failed
        }
    }

    /// The status of a run with the given outcomes. Jobs that were not started are ignored, because the failure of
    /// their dependency counts.
    package init(of outcomes: [JobOutcome]) {
        self = .succeeded
        for outcome in outcomes where !outcome.isSuccess {
            switch outcome {
            case .failed(let failure) where failure.rule == .expectationFailed: self = .expectationFailed
            case .notRun: continue
            default:
                self = .jobFailed
                return
            }
        }
    }
}
