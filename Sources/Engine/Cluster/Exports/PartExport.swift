internal import Diagnostics
internal import JobStages

/// A description of a submission's parts in the format of another program, which the user starts. Which parts wait or
/// run isn't known here.
protocol PartExport: Sendable {
    /// Name of the program or service, for messages.
    var service: String { get }
    /// Name of the written file.
    var fileName: String { get }

    /// Whether the failure of a task ends the other tasks.
    var stopsAtFailures: Bool { get }

    /// Returns the content of the file. The parts are tasks with the indices 0, 1, …; each runs the script in the folder
    /// (`PartScript`) with its index as the argument.
    /// - Throws: A usage error if the format can't express the submission.
    func document(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> String

    /// Returns the command lines that start and cancel the parts described by a file.
    func commands(path: String) -> (start: String, cancel: String?)
}

extension PartExport {
    /// Writes the file and its script, and returns a description for the user.
    /// - Throws: A usage error if the format can't express the submission, an environment error if a file can't be written.
    func write(_ submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> String {
        let document = try document(of: submission, in: folder)
        try PartScript.write(submission, in: folder, ignoresFailures: stopsAtFailures)
        try folder.write(document, to: fileName)
        return
            "\(counted(submission.parts.count, "part")) for \(service); start them: \(commands(path: folder.file(fileName)).start)"
    }

    /// Returns how the user cancels a submission, as a clause of an error message.
    func cancellation(of submission: Submission, in folder: SubmissionFolder) -> String {
        let command = commands(path: folder.file(fileName)).cancel.map { ": \($0)" } ?? ""
        return "submission \(submission.number) must be cancelled in \(service)\(command)"
    }
}

/// The script that runs a part of a submission by its position, for engines whose tasks are numbered from 0.
enum PartScript {
    static let name = "part.sh"
    private static let ended = "ended"

    /// Exit statuses of a part that has ended: the same run would end in the same way. Other statuses are those of a part that
    /// was cancelled or that lacked a resource, and that may be started again.
    static let finalStatuses: [RunStatus] = [
        .succeeded, .jobFailed, .invalidSpec, .expectationFailed, .usage,
    ]
    /// Exit statuses of a part whose results contain all of its jobs.
    private static let completeStatuses: [RunStatus] = [.succeeded, .jobFailed, .expectationFailed]

    /// Writes the script and the list of parts. `ignoresFailures`: whether the script succeeds if jobs have failed.
    /// - Throws: An environment error if a file can't be written.
    static func write(
        _ submission: Submission, in folder: SubmissionFolder, ignoresFailures: Bool
    ) throws(EngineError) {
        func pattern(_ statuses: [RunStatus]) -> String {
            statuses.map { "\($0.rawValue)" }.joined(separator: " | ")
        }
        let run = ShellScript.line(submission.command.run(folder.batch))
        try folder.writeList(of: submission.parts)
        try folder.createFolder(ended)
        try folder.write(
            #"""
            #!/bin/sh
            # Runs a part of a batch. The argument is the position of the part in \#(SubmissionFolder.list), from 0.
            part=$(sed -n "$(($1 + 1))p" \#(SafeText.singleQuoted(folder.file(SubmissionFolder.list)))) || exit
            \#(ShellScript.forwardingSignals(to: run + #" --shard "$part""#))
            case $status in
                \#(pattern(finalStatuses))) echo "$status" > \#(SafeText.singleQuoted(folder.file(ended)))/"$part" ;;
            esac
            \#(ignoresFailures ? "case $status in \(pattern(completeStatuses))) exit 0 ;; esac" : "")
            exit "$status"

            """#, to: name)
    }

    /// Returns the parts that have ended.
    static func endedParts(in folder: SubmissionFolder) -> Set<Int> {
        Set(folder.names(in: ended).compactMap { Int($0) })
    }
}
