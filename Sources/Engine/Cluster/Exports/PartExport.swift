internal import Diagnostics

/// A description of a submission's parts in the format of another program, which the user starts. Only that program knows
/// which parts wait or run.
protocol PartExport: Sendable {
    /// Name of the program or service, for messages.
    var service: String { get }
    /// Name of the written file.
    var fileName: String { get }

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
        try PartScript.write(submission, in: folder)
        try folder.write(document, to: fileName)
        return
            "\(counted(submission.parts.count, "part")) for \(service); start them: \(commands(path: folder.file(fileName)).start)"
    }

    /// Returns the error of a cancellation.
    func cancellationError(_ submission: Submission, in folder: SubmissionFolder) -> EngineError {
        let command = commands(path: folder.file(fileName)).cancel.map { ": \($0)" } ?? ""
        return EngineError(
            .environment, "submission \(submission.number) must be cancelled in \(service)\(command)")
    }
}

/// The script that runs a part of a submission by its position, for engines whose tasks are numbered from 0.
enum PartScript {
    static let name = "part.sh"
    private static let list = "parts.txt"

    /// Writes the script and the list of parts.
    /// - Throws: An environment error if a file can't be written.
    static func write(_ submission: Submission, in folder: SubmissionFolder) throws(EngineError) {
        try folder.write(submission.parts.map { "\($0)\n" }.joined(), to: list)
        try folder.write(
            """
            #!/bin/sh
            # Runs a part of a batch. The argument is the position of the part in \(list), from 0.
            part=$(sed -n "$(($1 + 1))p" \(SafeText.singleQuoted(folder.file(list)))) || exit
            exec \(ShellScript.line(submission.command.run(folder.batch))) --shard "$part"

            """, to: name)
    }
}
