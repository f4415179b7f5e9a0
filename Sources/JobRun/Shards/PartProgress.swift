/// The progress of a part while it runs, for those who follow the batch. It is a hint, which no result depends on.
package struct PartProgress: Codable, Sendable {
    /// A running job.
    package struct Job: Codable, Sendable {
        package var id: String
        package var file: String
        /// Completed fraction, from 0 to 1.
        package var fraction: Double
        /// Duration of the media processed so far, in seconds.
        package var media: Double
        /// Seconds since the current attempt started.
        package var elapsed: Double
    }
    /// The running jobs, in the order of their start.
    package var running: [Job]
    /// Number of jobs that have ended.
    package var finished: Int
    /// Number of jobs of the part.
    package var total: Int

    /// Creates the progress of a batch.
    package init(_ runner: BatchRunner) {
        let state = runner.snapshot()
        running = state.running.map {
            Job(id: $0.id, file: $0.file, fraction: $0.fraction, media: $0.media, elapsed: $0.elapsed)
        }
        (finished, total) = (state.finished, state.total)
    }

    /// Whether the values are possible. Checked for values from a shared folder.
    var isValid: Bool {
        let counts = 0...10_000_000
        return counts.contains(finished) && counts.contains(total) && finished <= total
            && running.count <= 10_000
            && running.allSatisfy { job in
                (0...1).contains(job.fraction) && (0...1e12).contains(job.media)
                    && (0...1e12).contains(job.elapsed)
            }
    }

    /// The running jobs, for a display.
    package var jobs: [RunningJob] {
        running.map {
            RunningJob(
                id: $0.id, file: $0.file, fraction: $0.fraction, media: $0.media, elapsed: $0.elapsed)
        }
    }
}
