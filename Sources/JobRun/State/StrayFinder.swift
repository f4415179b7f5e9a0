internal import ExactStrings
internal import FileSystem
internal import Glibc
package import JobPlan
internal import JobSpec
package import Publishing

/// Detection and removal of obsolete outputs.
package struct StrayFinder: Sendable {
    let records: StateRecords
    /// Root beneath which all files must be.
    let root: PathRoot

    /// Returns outputs that no job produces any more: their jobs were removed, or have other destinations now.
    /// `requested` contains the destinations of all jobs, and `variableOutputs` the outputs whose files depend on their
    /// sources, whose last published files are kept. An output is not listed if it has changed, if another job file has adopted
    /// it, or if it is a source.
    package func find(
        requested: Set<DestinationPath>, variableOutputs: Set<OutputKey> = [], sources: Set<SourceFileKey>
    ) -> [Stray] {
        let templates = requested.compactMap { ImageNameTemplate($0.path) }
        let requested = requested.union(destinations(of: variableOutputs))
        var strays: [Stray] = []
        var seen: Set<ExactString> = []
        for store in records.all {
            let folder = store.folder
            let owners = Dictionary(
                records.files(in: folder).map { ($0.name.exact, $0.path) },
                uniquingKeysWith: { first, _ in first })
            for record in records.contents(in: folder)?.published ?? [] {
                guard let file = owners[record.job.file.exact], isStray(record, of: file, in: folder) else {
                    continue
                }
                // An image output with a matching name template may have adopted the file of another job.
                let isOfJob = variableOutputs.contains {
                    $0.id == OutputName(record.job.id).undivided.description && $0.file == file
                }
                if !isOfJob, templates.contains(where: { $0.matches(record.destination) }) { continue }
                guard let path = DestinationPath(record.destination), !requested.contains(path),
                    seen.insert(record.destination.exact).inserted,
                    let identity = FileIdentity(path: record.destination),
                    !sources.contains(SourceFileKey(identity))
                else { continue }
                strays.append(
                    Stray(file: record.job.file, job: record.job.id, path: record.destination, folder: folder)
                )
            }
        }
        return strays.sorted { ($0.file, $0.path) < ($1.file, $1.path) }
    }

    /// Returns the files that the given outputs last published.
    private func destinations(of variableOutputs: Set<OutputKey>) -> [DestinationPath] {
        if variableOutputs.isEmpty { return [] }
        return records.all.flatMap { store -> [DestinationPath] in
            let published = records.contents(in: store.folder)?.records.values.map { $0 } ?? []
            return records.files(in: store.folder).flatMap { file in
                published.compactMap { record in
                    guard record.job.file.exact == file.name.exact,
                        variableOutputs.contains(
                            OutputKey(file: file.path, id: OutputName(record.job.id).undivided.description))
                    else { return nil }
                    return record.destination.flatMap { DestinationPath($0) }
                }
            }
        }
    }

    /// Returns whether an output is unchanged since it was published and still belongs to the job file.
    private func isStray(_ record: StateStore.PublishedOutput, of file: String, in folder: StateFolder)
        -> Bool
    {
        guard TemporaryFile.fingerprint(path: record.destination) == record.output else { return false }
        // A record may come from a checked-out repository; a mark can't.
        guard let mark = DestinationPath.mark(at: record.destination) else {
            return !TemporaryFile.supportsAttributes(record.destination) && StateSecret.isSigned(folder)
        }
        return mark.owner == DestinationPath.Mark.owner(file, at: record.destination)
    }

    /// Removes an obsolete output. Returns false if the file has changed since it was listed.
    package func remove(_ stray: Stray) throws(StateError) -> Bool {
        let name = StateStore.JobName(file: stray.file, id: stray.job)
        guard
            let record = records.contents(in: stray.folder)?.published(name, at: stray.path),
            let file = records.files(in: stray.folder).first(where: { $0.name.exact == stray.file.exact })?
                .path,
            isStray(record, of: file, in: stray.folder)
        else { return false }
        let isFolder = FileIdentity(path: stray.path)?.isDirectory == true
        guard isFolder ? TemporaryFolder.remove(stray.path, in: root) : unlink(stray.path) == 0
        else {
            throw StateError("\(stray.path) can't be removed: \(String(cString: strerror(errno)))")
        }
        try records.store(in: stray.folder)?.deleteRecord(name, at: stray.path)
        return true
    }
}

/// A destination with a placeholder for the number or the time of each still image.
private struct ImageNameTemplate {
    private let before: String
    private let after: String

    /// Creates a template; nil if the path has no such placeholder.
    init?(_ path: String) {
        let marks = [ImagesSpec.Placeholder.number, ImagesSpec.Placeholder.time]
        guard let first = marks.compactMap({ path.firstRange(of: $0)?.lowerBound }).min(),
            let last = marks.compactMap({ path.ranges(of: $0).last?.upperBound }).max()
        else { return nil }
        (before, after) = (String(path[..<first]), String(path[last...]))
    }

    func matches(_ path: String) -> Bool { path.hasPrefix(before) && path.hasSuffix(after) }
}

/// A published output that no job produces any more.
package struct Stray: Sendable {
    /// Name of the job file in the state.
    package var file: String
    /// Id of the job that created the output.
    package var job: String
    /// Absolute path of the output.
    package var path: String
    /// State folder that contains the output's record.
    package var folder: StateFolder
}
