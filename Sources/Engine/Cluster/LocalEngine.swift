internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobRun

/// Processes on this machine, in a session of their own, that continue after the command that started them.
struct LocalEngine: ClusterEngine {
    func maxParts() -> Int { ShardFolder.maxParts }

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
        let (chunks, joining, others) = (submission.stages ?? PartStages()).divide(submission.parts)
        try folder.writeList(of: chunks, to: Self.chunkList)
        try folder.writeList(of: joining + others)
        let concurrent = submission.resources.concurrentParts ?? 1
        let runAll =
            "xargs -r -n 1 -P \(concurrent) sh -c 'sh \"$0\" \"$1\" || :' \(SafeText.singleQuoted(folder.file(Self.part)))"
        try folder.write(
            """
            #!/bin/sh
            # Runs the parts of a submission: first those that encode chunks.
            # `xargs` stops if a command is killed, so that each command has a shell of its own.
            \(runAll) < \(SafeText.singleQuoted(folder.file(Self.chunkList)))
            \(runAll) < \(SafeText.singleQuoted(folder.file(SubmissionFolder.list)))
            exec \(ShellScript.line(submission.command.collect(folder.batch))) > \(SafeText.singleQuoted(folder.file("collect.txt"))) 2>&1

            """, to: Self.driver)
        _ = try await ToolProcess.run([
            "sh", "-c", #"setsid sh "$0" < /dev/null > /dev/null 2>&1 & cat "/proc/$!/stat" > "$1""#,
            folder.file(Self.driver), folder.file(Self.process),
        ])
        return "\(counted(submission.parts.count, "part")) on this machine"
    }

    private static let (part, driver) = ("part.sh", "parts.sh")
    private static let (process, ended) = ("process", "ended.txt")
    private static let chunkList = "chunks.txt"

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

    /// Returns the id of the process that runs the parts, which leads a process group; nil if the group has ended.
    private func process(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> pid_t?
    {
        let host = HostName.current
        guard submission.host == host else {
            throw EngineError(
                .environment, "submission \(submission.number) runs on \(submission.host), this is \(host)")
        }
        guard let recorded = ProcessIdentity(stat: folder.text(of: Self.process)) else { return nil }
        // A group that has members keeps its id after the end of its leader.
        if let now = recorded.current { return now.isRunning(recorded) ? recorded.id : nil }
        return kill(-recorded.id, 0) == 0 ? recorded.id : nil
    }
}

/// The identity of a process. Ids are used again, but not with the same start time.
private struct ProcessIdentity {
    let id: pid_t
    private let startTime: Substring
    private let isZombie: Bool

    /// Reads the content of `/proc/ID/stat`; nil if it isn't valid.
    init?(stat text: String) {
        guard let id = text.split(separator: " ").first.flatMap({ pid_t($0) }), id > 1,
            let name = text.lastIndex(of: ")")
        else { return nil }
        // The state follows the name, which is in parentheses; the start time is the 20th field from there.
        let fields = text[name...].dropFirst().split(whereSeparator: \.isWhitespace)
        guard fields.count > 19 else { return nil }
        (self.id, startTime, isZombie) = (id, fields[19], fields[0] == "Z")
    }

    /// The process that has the id now; nil if there is none.
    var current: ProcessIdentity? {
        (try? Data(contentsOf: URL(filePath: "/proc/\(id)/stat"))).flatMap {
            ProcessIdentity(stat: String(decoding: $0, as: UTF8.self))
        }
    }

    /// Returns whether this is the recorded process, and it hasn't ended.
    func isRunning(_ recorded: ProcessIdentity) -> Bool { startTime == recorded.startTime && !isZombie }
}
