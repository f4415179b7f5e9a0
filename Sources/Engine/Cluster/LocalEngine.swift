internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobRun

/// Processes on this machine, in a session of their own, that continue after the command that started them.
struct LocalEngine: ClusterEngine {
    func maxParts() -> Int { 10_000 }

    func start(_ submission: Submission, in folder: SubmissionFolder) async throws(EngineError) -> String {
        let run = ShellScript.line(submission.command.run(folder.batch))
        let (logs, ended) = (
            SafeText.singleQuoted(folder.logs), SafeText.singleQuoted(folder.file(Self.ended))
        )
        try folder.write(
            """
            #!/bin/sh
            # Runs the part of a batch whose index is the argument.
            \(run) --shard "$1" > \(logs)/"$1.txt" 2>&1
            echo "$1 $?" >> \(ended)

            """, to: Self.part)
        try folder.write(submission.parts.map { "\($0)\n" }.joined(), to: Self.list)
        let concurrent = submission.resources.concurrentParts ?? 1
        try folder.write(
            """
            #!/bin/sh
            # Runs the parts of a submission.
            # `xargs` stops if a command is killed, so that each command has a shell of its own.
            xargs -n 1 -P \(concurrent) sh -c 'sh "$0" "$1" || :' \(SafeText.singleQuoted(folder.file(Self.part))) \
                < \(SafeText.singleQuoted(folder.file(Self.list)))
            exec \(ShellScript.line(submission.command.collect(folder.batch))) > \(SafeText.singleQuoted(folder.file("collect.txt"))) 2>&1

            """, to: Self.driver)
        _ = try await ToolProcess.run([
            "sh", "-c", #"setsid sh "$0" < /dev/null > /dev/null 2>&1 & echo $! > "$1""#,
            folder.file(Self.driver), folder.file(Self.process),
        ])
        return "\(counted(submission.parts.count, "part")) on this machine"
    }

    private static let (part, list, driver) = ("part.sh", "parts.txt", "parts.sh")
    private static let (process, ended) = ("process", "ended.txt")

    func states(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> [Int:
        PartState]
    {
        let ended = Set(
            folder.text(of: Self.ended).split(separator: "\n").compactMap {
                $0.split(separator: " ").first.flatMap { Int($0) }
            })
        let open = submission.parts.filter { !ended.contains($0) }
        guard !open.isEmpty, try process(of: submission, in: folder) != nil else { return [:] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.logs)) ?? []
        let started = Set(names.compactMap { $0.hasSuffix(".txt") ? Int($0.dropLast(4)) : nil })
        return Dictionary(
            open.map { ($0, started.contains($0) ? .running : .waiting(reason: "")) },
            uniquingKeysWith: { first, _ in first })
    }

    func cancel(_ submission: Submission, in folder: SubmissionFolder) throws(EngineError) {
        guard let process = try process(of: submission, in: folder) else { return }
        guard kill(-process, SIGTERM) == 0 || errno == ESRCH else {
            throw EngineError(
                .environment, "process \(process) can't be ended: \(String(cString: strerror(errno)))")
        }
    }

    /// Returns the id of the process that runs the parts, which leads a process group; nil if it has ended.
    private func process(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> pid_t?
    {
        let host = HostName.current
        guard submission.host == host else {
            throw EngineError(
                .environment, "submission \(submission.number) runs on \(submission.host), this is \(host)")
        }
        guard let id = pid_t(folder.text(of: Self.process).filter { !$0.isNewline }), id > 1 else {
            return nil
        }
        // The id may belong to another process by now. While a process executes another program, and as a zombie, it has
        // no command line.
        for _ in 0..<20 {
            guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(id)/cmdline")) else {
                // No other process gets the id of a group that has members.
                return kill(-id, 0) == 0 ? id : nil
            }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if !words.isEmpty {
                let isCollector = words.contains(submission.command.program) && words.contains(folder.batch)
                return words.contains(folder.file(Self.driver)) || isCollector ? id : nil
            }
            usleep(10_000)
        }
        return nil
    }
}
