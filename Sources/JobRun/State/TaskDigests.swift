internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The property that identifies an unchanged source.
package enum FingerprintMode: String, Sendable, CaseIterable {
    /// Size, time of the last change and inode.
    case stat
    /// SHA-256 of the file's bytes.
    case content
}

/// Digests of tasks. With `FingerprintMode.content` they include the content of sources, whose digests are stored.
struct TaskDigests: Sendable {
    let records: StateRecords
    let mode: FingerprintMode
    /// Digests of sources that this run has read.
    let contents: SourceContents

    /// Returns the digest of an output's plan; nil if the source can't be read.
    func digest(of task: OutputTask) -> PlanDigest? {
        var content: String?
        if mode == .content {
            switch task.input.source {
            case .file(let path, let identity):
                guard let found = self.content(path, identity, file: task.file) else { return nil }
                content = found
                if let package = task.input.package {
                    guard let files = self.content(package, file: task.file) else { return nil }
                    content = "\(found) \(files)"
                }
            case .images(let sequence, _):
                guard let found = self.content(sequence, file: task.file) else { return nil }
                content = found
            case .composition(let composition, _):
                guard let found = self.content(composition, file: task.file) else { return nil }
                content = found
            case .pattern, .job: break
            }
        }
        return try? PlanDigest(task, content: content)
    }

    /// Returns the digest for the other fingerprint mode, so that changing the mode causes no rerun.
    func digestForOtherMode(_ task: OutputTask) -> PlanDigest? {
        guard case .file(let path, _) = task.input.source, task.input.package == nil else { return nil }
        if mode == .content { return try? PlanDigest(task) }
        guard let word = FileIdentity.changeToken(path: path), let store = records.store(of: task.file),
            let content = store.results.content(path: path, identity: word)
        else { return nil }
        return try? PlanDigest(task, content: content)
    }

    private func content(_ composition: Composition, file: String) -> String? {
        var hasher = SHA256Hasher()
        for source in composition.sources {
            switch source {
            case .file(let path):
                guard let identity = FileIdentity(path: path), let one = content(path, identity, file: file)
                else { return nil }
                hasher.update("\(one)\n")
            case .images(let sequence):
                guard let one = content(sequence, file: file) else { return nil }
                hasher.update("\(one)\n")
            case .pattern: hasher.update("pattern\n")
            }
        }
        return hasher.finish()
    }

    private func content(_ package: SegmentedPackage, file: String) -> String? {
        let content = content(ofFiles: package.files.indices.map(package.path), file: file)
        return package.currentIdentity == package.identity ? content : nil
    }

    private func content(_ sequence: ImageSequence, file: String) -> String? {
        content(ofFiles: sequence.files, file: file)
    }

    private func content(ofFiles paths: some Sequence<String>, file: String) -> String? {
        var hasher = SHA256Hasher()
        for path in paths {
            guard let identity = FileIdentity(path: path), let one = content(path, identity, file: file)
            else { return nil }
            hasher.update("\(one)\n")
        }
        return hasher.finish()
    }

    private func content(_ path: String, _ identity: FileIdentity, file: String) -> String? {
        let digest = contents.digest(of: path, in: [records.store(of: file)].compactMap(\.self))
        return FileIdentity(path: path) == identity ? digest : nil
    }
}
