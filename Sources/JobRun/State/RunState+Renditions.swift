package import JobPlan
internal import Media
internal import Publishing
package import Streaming

/// Renditions of packages that need not be created again.
extension RunState {
    /// Returns the renditions of a package that an earlier run published at its destination with equal plans, by id. Their
    /// files can be taken from the published folder, which is unchanged.
    package func reusableRenditions(of task: OutputTask) -> [String: StreamingRendition] {
        guard !isForced, let package = task.output.package, let destination = task.output.destination,
            let store = records.store(of: task.file), let now = TemporaryFile.fingerprint(path: destination),
            owns(task, at: destination)
        else { return [:] }
        let stored = store.results.renditions(at: destination)
        guard !stored.isEmpty else { return [:] }
        var found: [String: StreamingRendition] = [:]
        for rendition in task.written {
            guard let id = rendition.output.id, let known = stored[id], known.output == now,
                known.digest == digest(ofRendition: rendition, in: package)
            else { continue }
            found[id] = known.description
        }
        return found
    }

    /// Records the renditions of a package that was published, whose folder has the fingerprint `output`.
    package func published(_ renditions: [StreamingRendition], of task: OutputTask, output: String) {
        guard let package = task.output.package, let destination = task.output.destination,
            let store = records.store(of: task.file)
        else { return }
        var records: [String: StateStore.StoredRendition] = [:]
        for (rendition, description) in zip(task.written, renditions) {
            guard let id = rendition.output.id, let digest = digest(ofRendition: rendition, in: package)
            else {
                continue
            }
            records[id] = StateStore.StoredRendition(digest: digest, output: output, description: description)
        }
        store.results.record(records, at: destination)
    }

    /// Whether the folder at a destination is unchanged since it was published for the task's job file.
    private func owns(_ task: OutputTask, at destination: String) -> Bool {
        let owner = DestinationPath.Mark.owner(task.file, at: destination)
        return DestinationPath.mark(at: destination)?.owner == owner || owns(destination, for: task.file)
    }

    /// Returns the digest of everything that determines the files of a rendition; nil if the source can't be read.
    private func digest(ofRendition task: OutputTask, in package: PackagePlan) -> String? {
        digest(of: task).map { "\($0.value.text) \(package.files.rawValue)" }
    }
}
