internal import Diagnostics

/// The workload manager Slurm, controlled by its commands (`sbatch`, `squeue`, `scancel`, `scontrol`). The parts of a
/// submission are the tasks of a job array, after which a job collects the results. If some encode chunks that others read, each
/// group of parts has an array.
struct SlurmEngine: ClusterEngine {
    func maxParts() async throws(EngineError) -> Int {
        Self.maxArraySize(in: try await ToolProcess.run(["scontrol", "show", "config"]))
    }

    /// Returns `MaxArraySize` in the output of `scontrol show config`; Slurm's default if it isn't stated. The greatest
    /// index of an array is one less.
    static func maxArraySize(in config: String) -> Int {
        for line in config.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 3, words[0] == "MaxArraySize", let size = Int(words[2]) { return max(1, size) }
        }
        return 1001
    }

    func start(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> String {
        try folder.write(Self.partScript(submission.command.run(folder.batch)), to: "part.sh")
        try folder.write(
            "#!/bin/sh\nexec \(ShellScript.line(submission.command.collect(folder.batch)))\n",
            to: "collect.sh")
        do throws(EngineError) {
            var arrays: [Int] = []
            for (parts, isDelayed) in submission.groups {
                let options = Self.arrayOptions(
                    submission, parts, after: isDelayed ? arrays.first : nil, in: folder)
                guard let array = Self.id(in: try await ToolProcess.run(["sbatch"] + options)) else {
                    throw EngineError(.environment, "`sbatch` printed no job id")
                }
                arrays.append(array)
            }
            let printed = try await ToolProcess.run(
                ["sbatch"] + Self.collectorOptions(submission, after: arrays, in: folder))
            let collector = Self.id(in: printed).map { ", collected by job \($0)" } ?? ""
            let names = arrays.map(String.init).joined(separator: ", ")
            return
                "Slurm job \(arrays.count == 1 ? "array" : "arrays") \(names) with \(counted(submission.parts.count, "part"))\(collector)"
        } catch {
            // A job may have been accepted although the answer was lost.
            try? await cancel(submission, in: folder)
            throw error
        }
    }

    func states(of submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> [Int:
        PartState]
    {
        Self.states(
            in: try await ToolProcess.run([
                "squeue", "--noheader", "--array", "--me", "--name=\(submission.name)", "--format=%K %T %r",
            ]))
    }

    func cancel(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError) {
        for name in [submission.name, Self.collectorName(submission)] {
            _ = try await ToolProcess.run(["scancel", "--name=\(name)"])
        }
    }

    // MARK: Texts of the commands

    /// States in which a task waits; in all others that `squeue` lists by default, it runs.
    private static let waitingStates: Set<Substring> = [
        "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT",
    ]

    /// Returns the states in the output of `squeue`: index of the task, state, and reason of the state.
    static func states(in output: String) -> [Int: PartState] {
        var states: [Int: PartState] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let part = Int(words[0]) else { continue }
            let reason = words.count > 2 ? String(words[2]) : ""
            states[part] = waitingStates.contains(words[1]) ? .waiting(reason: reason) : .running
        }
        return states
    }

    /// Returns the id in the output of `sbatch --parsable`, which a cluster's name may follow.
    static func id(in output: String) -> Int? {
        output.split(whereSeparator: { $0 == ";" || $0.isNewline }).first.flatMap { Int($0) }
    }

    /// Returns the options of the array of some parts, which begins after another one has ended.
    static func arrayOptions(
        _ submission: Submission, _ parts: [Int], after array: Int? = nil, in folder: SubmissionFolder
    ) -> [String] {
        var options = common(submission, name: submission.name, log: folder.logs, file: "%a.txt")
        let limit = submission.resources.concurrentParts.map { "%\($0)" } ?? ""
        options += ["--array=\(Submission.ranges(of: parts))\(limit)", "--requeue", "--signal=B:TERM@60"]
        if let array { options.append("--dependency=afterany:\(array)") }
        if let time = submission.resources.timeLimit { options.append("--time=\(time)") }
        if let processors = submission.resources.processors {
            options.append("--cpus-per-task=\(processors)")
        }
        if let memory = submission.resources.memory { options.append("--mem=\(memory >> 10)K") }
        return options + [folder.file("part.sh")]
    }

    private static func collectorOptions(
        _ submission: Submission, after arrays: [Int], in folder: SubmissionFolder
    ) -> [String] {
        common(submission, name: collectorName(submission), log: folder.path, file: "collect.txt")
            + [
                "--dependency=afterany:" + arrays.map(String.init).joined(separator: ":"),
                folder.file("collect.sh"),
            ]
    }

    private static func collectorName(_ submission: Submission) -> String { submission.name + "-collect" }

    private static func common(_ submission: Submission, name: String, log: String, file: String) -> [String]
    {
        // In paths, Slurm replaces patterns that begin with a percent sign.
        var pattern = Array("--output=".utf8)
        for byte in log.utf8 { pattern += byte == UInt8(ascii: "%") ? [byte, byte] : [byte] }
        var options = [
            "--parsable", "--job-name=\(name)", String(decoding: pattern, as: UTF8.self) + "/\(file)",
            "--open-mode=append",
        ]
        if let partition = submission.resources.partition { options.append("--partition=\(partition)") }
        if let account = submission.resources.account { options.append("--account=\(account)") }
        return options
    }

    /// Returns the script of a task. SIGTERM, which Slurm sends 60 s before the time limit, cancels the running jobs, and
    /// the task is requeued: it continues with the jobs that aren't done. A task that was cancelled is no longer running
    /// then, and isn't requeued.
    static func partScript(_ command: [String]) -> String {
        #"""
        #!/bin/sh
        # A part of a batch, as a task of a job array. SIGTERM, 60 s before the time limit, ends the run and requeues the task.
        \#(ShellScript.forwardingSignals(to: ShellScript.line(command) + #" --shard "$SLURM_ARRAY_TASK_ID""#))
        task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
        if [ -n "$stopped" ] && [ "$status" -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt \#(Submission.maxRestarts) ] &&
            [ "$(squeue --noheader --job="$task" --format=%T)" = RUNNING ]; then
            scontrol requeue "$task"
        fi
        exit "$status"

        """#
    }
}
