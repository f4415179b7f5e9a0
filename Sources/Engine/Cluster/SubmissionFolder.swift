internal import Diagnostics
internal import FileSystem
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
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

    /// Returns the submissions of a batch, in their order. Folders without a record, which a submission is just creating,
    /// are ignored.
    /// - Throws: An environment error for a record that can't be read or used, or that belongs to another user: it names the
    ///   program that a resubmission starts.
    static func all(
        of batch: String, beneath root: PathRoot, partCount: Int
    ) throws(EngineError) -> [(submission: Submission, folder: SubmissionFolder)] {
        var found: [(submission: Submission, folder: SubmissionFolder)] = []
        for number in numbers(of: batch) {
            let folder = SubmissionFolder(batch: batch, number: number)
            let path = folder.file(record)
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { continue }
                throw EngineError(.environment, "\(path) can't be read: \(String(cString: strerror(errno)))")
            }
            guard status.st_uid == geteuid() else {
                throw EngineError(
                    .environment, "\(path) belongs to another user, who alone can use the submission")
            }
            guard let real = RealPath.of(path), root.contains(real),
                let bytes = try? SystemSpecFiles().read(real, limit: 16 << 20),
                let submission = try? JSONFormat.value(Submission.self, of: Data(bytes)),
                submission.isValid(partCount: partCount), submission.number == number
            else {
                throw EngineError(
                    .environment,
                    "\(path) is not a submission of this batch that tandem \(ProgramVersion.current) wrote")
            }
            found.append((submission, folder))
        }
        return found
    }

    /// Returns the text of a file in this folder; empty if it isn't a regular file of at most 16 MiB.
    func text(of name: String) -> String {
        (try? SystemSpecFiles().read(file(name), limit: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
            ?? ""
    }

    /// Returns the names of the files in a folder of this folder.
    func names(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []
    }

    private static func numbers(of batch: String) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent(of: batch))) ?? []
        return names.compactMap(Int.init).filter { (1...maxSubmissions).contains($0) }.sorted()
    }

    private static let record = "submission.json"

    // MARK: Writing

    /// Removes all submissions of a batch, none of which has started a part.
    static func removeAll(of batch: String) { try? FileManager.default.removeItem(atPath: parent(of: batch)) }

    /// Removes the submission, which has started no part.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Creates the next folder of a batch, and records the submission that `body` returns for its number.
    /// - Throws: A usage error for an invalid submission, an environment error if the folder can't be written.
    static func create(
        of batch: String, _ body: (_ number: Int) -> Submission
    ) throws(EngineError) -> (submission: Submission, folder: SubmissionFolder) {
        let first = body(1)
        if let problem = first.resources.problem(with: first.engine) { throw EngineError(.usage, problem) }
        guard first.isValid(partCount: .max) else {
            throw EngineError(.usage, "--program must be an absolute path")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: parent(of: batch), withIntermediateDirectories: true)
            // Another submission may create the same folder at the same time.
            let next = (numbers(of: batch).last ?? 0) + 1
            for number in next..<next + 100 where number <= maxSubmissions {
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

    /// Name of the list of parts.
    static let list = "parts.txt"

    /// Writes a list of parts, one in each line.
    /// - Throws: An environment error if it can't be written.
    func writeList(of parts: [Int], to name: String = list) throws(EngineError) {
        try write(parts.map { "\($0)\n" }.joined(), to: name)
    }

    /// Creates an empty folder in this folder.
    /// - Throws: An environment error if it can't be created.
    func createFolder(_ name: String) throws(EngineError) {
        do {
            try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
        } catch {
            throw EngineError(.environment, "\(file(name)) can't be created: \(error)")
        }
    }

    private func write(_ data: Data, to name: String) throws {
        try data.write(to: URL(filePath: file(name)), options: .atomic)
    }
}
