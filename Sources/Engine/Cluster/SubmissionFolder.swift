internal import Diagnostics
internal import FileSystem
internal import FoundationEssentials
internal import JobRun
internal import JobSpec

/// The folder of a submission beneath the folder of its batch: the record, the scripts and the logs of the parts.
package struct SubmissionFolder: Sendable {
    /// Maximum number of submissions of a batch.
    static let maxSubmissions = 10_000

    /// Absolute path of the batch's folder, which contains the plan.
    let batch: String
    /// Absolute path of this folder.
    let path: String

    private init(batch: String, number: Int) {
        self.batch = batch
        path = Self.parent(of: batch) + "/\(number)"
    }

    private static func parent(of batch: String) -> String { batch + "/submissions" }

    /// Folder of the logs, one for each part.
    var logs: String { path + "/logs" }

    /// Returns the path of a file in this folder.
    func file(_ name: String) -> String { path + "/" + name }

    // MARK: Reading

    /// Returns the submissions of a batch, in their order. Records that aren't complete are ignored.
    static func all(of batch: String, partCount: Int) -> [(submission: Submission, folder: SubmissionFolder)]
    {
        numbers(of: batch).compactMap { number in
            let folder = SubmissionFolder(batch: batch, number: number)
            guard let bytes = try? SystemSpecFiles().read(folder.file(record), limit: 16 << 20),
                let submission = try? JSONFormat.value(Submission.self, of: Data(bytes)),
                submission.isValid(partCount: partCount), submission.number == number
            else { return nil }
            return (submission, folder)
        }
    }

    private static func numbers(of batch: String) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent(of: batch))) ?? []
        return names.compactMap(Int.init).filter { (1...maxSubmissions).contains($0) }.sorted()
    }

    private static let record = "submission.json"

    // MARK: Writing

    /// Creates the next folder of a batch, and records the submission that `body` returns for its number.
    /// - Throws: An environment error if the folder can't be written.
    static func create(
        of batch: String, _ body: (_ number: Int) -> Submission
    ) throws(EngineError) -> (submission: Submission, folder: SubmissionFolder) {
        do {
            try FileManager.default.createDirectory(
                atPath: parent(of: batch), withIntermediateDirectories: true)
            // Another submission may create the same folder at the same time.
            let first = (numbers(of: batch).last ?? 0) + 1
            for number in first..<first + 100 where number <= maxSubmissions {
                let folder = SubmissionFolder(batch: batch, number: number)
                guard
                    (try? FileManager.default.createDirectory(
                        atPath: folder.path, withIntermediateDirectories: false)) != nil
                else { continue }
                try FileManager.default.createDirectory(
                    atPath: folder.logs, withIntermediateDirectories: false)
                let submission = body(number)
                try folder.write(JSONFormat.data(of: submission), to: record)
                return (submission, folder)
            }
        } catch {
            throw EngineError(.environment, "\(parent(of: batch)) can't be written: \(error)")
        }
        throw EngineError(.environment, "\(parent(of: batch)) can't be written, or has too many submissions")
    }

    /// Writes a text file of this folder.
    /// - Throws: An environment error if it can't be written.
    func write(_ text: String, to name: String) throws(EngineError) {
        do {
            try write(Data(text.utf8), to: name)
        } catch {
            throw EngineError(.environment, "\(file(name)) can't be written: \(error)")
        }
    }

    private func write(_ data: Data, to name: String) throws {
        try data.write(to: URL(filePath: file(name)), options: .atomic)
    }
}
