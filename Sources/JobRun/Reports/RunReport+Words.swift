internal import JobPlan

extension RunReport {
    /// The status of a run, as the word in reports, events and the state.
    package enum Status: String, Codable, Sendable {
        case succeeded
        case failed
        /// A signal ended the run.
        case interrupted
    }
}

extension RunReport.Job {
    /// The outcome of a job, as the word in reports and events. The cases are in the order of summaries.
    package enum Outcome: String, Codable, CaseIterable, Sendable {
        case succeeded
        case upToDate = "up-to-date"
        case skipped
        /// The output isn't published, because it doesn't meet `publish_if`.
        case declined
        case failed
        case cancelled
        case notRun = "not-run"

        /// Determines the outcome's word.
        init(_ outcome: JobOutcome) {
            self =
                switch outcome {
                case .succeeded: .succeeded
                case .upToDate: .upToDate
                case .skipped: .skipped
                case .declined: .declined
                case .failed: .failed
                case .cancelled: .cancelled
                case .notRun: .notRun
                }
        }

        /// The outcome for readers, such as `up to date`.
        var text: String { rawValue.replacing("-", with: " ") }
    }

    /// The kind of an entry that isn't an output.
    package enum Kind: String, Codable, Sendable {
        /// The check of a source.
        case check
    }

    /// Whether nothing is left to do: the job succeeded, was up to date, was skipped, or declined its output.
    package var isDone: Bool {
        switch outcome {
        case .succeeded, .upToDate, .skipped, .declined: true
        case .failed, .cancelled, .notRun: false
        }
    }
}
