internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The up-to-date check by the job file alone, before the source is probed: shortcuts are digests of everything that
/// determines an output.
final class ShortcutCheck: Sendable {
    private let records: StateRecords
    private let mode: FingerprintMode
    /// Digests of everything from which each file's jobs were decoded. Files without one have no shortcuts.
    private let specs: [ExactString: String]
    private let isForced: Bool
    private let byOutput = Guarded<[OutputKey: Shortcut]>([:])

    init(_ records: StateRecords, mode: FingerprintMode, specs: [ExactString: String], isForced: Bool) {
        (self.records, self.mode, self.specs, self.isForced) = (records, mode, specs, isForced)
    }

    /// Returns the digest of a job file's contents; empty if it is unknown.
    func spec(of file: String) -> String { specs[file.exact] ?? "" }

    /// Returns the shortcut of an output; nil if the job file or the source has no digest.
    func shortcut(of task: OutputTask) -> Shortcut? {
        byOutput.withLock { $0[task.key] }
    }

    /// Returns the published outputs of a job that is up to date and needs no planning; nil if it must
    /// be planned.
    func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? {
        let file = query.file.path
        guard let spec = specs[file.exact] else { return nil }
        var text = "\(spec)\n"
        var upToDate: UpToDateOutputs? =
            isForced || query.outputs.isEmpty ? nil : UpToDateOutputs(outputs: [])
        // Shortcuts contain the mode, so that changing it to `content` computes the digest of the content once.
        if mode == .content { text += "content\n" }
        if let source = query.source {
            guard let status = FileStatus(path: source) else { return nil }
            text += "\(source)\n\(status.changeToken)\n"
            upToDate?.files.append(UpToDateOutputs.File(path: source, identity: status.identity))
        }
        for cover in query.covers {
            guard let status = FileStatus(path: cover) else { return nil }
            text += "cover \(cover)\n\(status.changeToken)\n"
            upToDate?.files.append(UpToDateOutputs.File(path: cover, identity: status.identity))
        }
        for path in query.subtitles {
            let status = FileStatus(path: path)
            text += "subtitles \(path)\n\(status?.changeToken ?? "missing")\n"
            guard let status else { continue }
            upToDate?.files.append(UpToDateOutputs.File(path: path, identity: status.identity))
        }
        for output in query.outputs {
            let name = OutputName(job: query.job.id.value, output: output.id).description
            var hasher = SHA256Hasher()
            hasher.update("\(text)\(name)\n\(output.destination ?? "")\n")
            let shortcut = Shortcut(digest: hasher.finish())
            byOutput.withLock { $0[OutputKey(file: file, id: name)] = shortcut }
            guard upToDate != nil else { continue }
            guard let destination = output.destination else {
                if records.checkRecord(file, name)?.shortcut == shortcut {
                    upToDate?.outputs.append(BatchPlan.Output(id: output.id, destination: nil))
                } else {
                    upToDate = nil
                }
                continue
            }
            let known = files(of: output, at: destination, name, shortcut, in: file)
            guard let files = known, let first = files.first else {
                upToDate = nil
                continue
            }
            let others = files.dropFirst().map(\.path)
            upToDate?.outputs.append(
                BatchPlan.Output(
                    id: output.id, destination: first.path, others: others.isEmpty ? nil : others))
            upToDate?.files += files.compactMap { file in
                // The identity of a link is not that of the file behind it.
                file.status.isLink
                    ? nil : UpToDateOutputs.File(path: file.path, identity: file.status.identity)
            }
        }
        return upToDate
    }

    /// Returns the files of an output with their statuses; nil unless all of them are unchanged since they were
    /// published.
    private func files(
        of query: UpToDateQuery.Output, at destination: String, _ name: String, _ shortcut: Shortcut,
        in file: String
    ) -> [(path: String, status: FileStatus)]? {
        guard let first = records.record(file, name) else { return nil }
        var count = 1
        if query.hasSeveralFiles {
            guard let known = first.shortcut?.fileCount, first.shortcut == shortcut.with(files: known) else {
                return nil
            }
            count = known
        } else if first.shortcut != shortcut || first.destination?.exact != destination.exact {
            return nil
        }
        var files: [(path: String, status: FileStatus)] = []
        var output = OutputName(name)
        for part in 0..<count {
            output.part = part
            guard let record = part == 0 ? first : records.record(file, output.description),
                let path = record.destination,
                let status = FileStatus(path: path, followingLinks: false),
                record.output == TemporaryFile.fingerprint(path: path, status: status),
                records.intent(file, at: path)?.output != record.output
            else { return nil }
            files.append((path, status))
        }
        return files
    }
}
