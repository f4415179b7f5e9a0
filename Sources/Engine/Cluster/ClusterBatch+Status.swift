internal import Diagnostics
internal import JobRun

extension ClusterBatch {
    /// The state of a batch: the parts by the states that the engines report, and the jobs by their results.
    package struct Status: Hashable, Sendable {
        /// Number of parts that wait in an engine, by the reason that it states.
        package var waiting: [String: Int] = [:]
        package var running = 0
        /// Number of exported parts that haven't ended. Whether they wait or run isn't known.
        package var unknown = 0
        package var parts = 0

        /// Whether no part waits, runs or has an unknown state.
        package var isOver: Bool { running == 0 && waiting.isEmpty && unknown == 0 }

        /// Number of parts that have ended.
        var ended: Int { parts - waitingCount - running - unknown }

        /// The state in one line.
        package var line: String {
            let listed = reasons.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
            return
                "\(counted(parts, "part")): \(ended) ended, \(running) running, \(waitingCount) waiting"
                + (listed.isEmpty ? "" : " (\(listed))")
                + (unknown == 0 ? "" : ", \(unknown) not ended")
        }

        /// Number of parts that wait.
        var waitingCount: Int { waiting.values.reduce(0, +) }

        /// The stated reasons, sorted.
        var reasons: [(key: String, value: Int)] {
            waiting.filter { !$0.key.isEmpty && $0.key != "None" }.sorted { $0.key < $1.key }
        }
    }

    /// The state of a batch, for programs.
    package struct StatusReport: Codable, Sendable {
        /// Number of parts, and of those that have ended, run and wait.
        package var parts: Int
        package var ended: Int
        package var running: Int
        package var waiting: Int
        /// Number of exported parts that haven't ended. Whether they wait or run isn't known.
        package var unknown: Int
        /// The reasons for which parts wait, as the engine states them.
        package var reasons: [Reason]
        /// Number of jobs, and of those that are done.
        package var jobs: Int
        package var done: Int

        package struct Reason: Codable, Sendable {
            package var reason: String
            /// Number of parts.
            package var count: Int
        }

        package init(_ status: Status, _ results: Results) {
            (parts, running, waiting) = (status.parts, status.running, status.waitingCount)
            (ended, unknown) = (status.ended, status.unknown)
            reasons = status.reasons.map { Reason(reason: $0.key, count: $0.value) }
            (jobs, done) = (results.report.jobs.count, results.report.jobs.count - results.missing.count)
        }
    }
}
