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
}
