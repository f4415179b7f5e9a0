internal import ExactStrings
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
package import Publishing

/// History of earlier runs, and detection of obsolete outputs.
extension RunState {
    // MARK: History

    /// Returns the latest runs of all folders, newest first.
    package func history(limit: Int) throws(StateError) -> [(
        folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt]
    )] {
        var all: [(folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt])] = []
        for folder in stateFolders {
            guard let store = stores[folder] else { continue }
            let requested = Set(fileNames(in: folder).map(\.exact))
            // All stored runs are read, because those of other job files are then filtered out.
            for (index, run) in try store.runs(limit: 200).enumerated() {
                var run = run
                guard run.files.contains(where: { requested.contains($0.exact) }) else { continue }
                if index == 0, run.ended == nil, StateLock.isHeld(folder) { run.status = .running }
                all.append((folder, run, try store.attempts(ofRun: run.number)))
            }
        }
        return Array(all.sorted { $0.run.begun > $1.run.begun }.prefix(limit))
    }

    /// Returns the names of the job files of a state folder, sorted.
    func fileNames(in folder: StateFolder) -> [String] {
        folders.filter { $0.value == folder }.keys.compactMap { names[$0] }.sorted()
    }

    /// Returns outputs that no job produces any more: their jobs were removed, or have other destinations now.
    /// `requested` contains the destinations of all jobs, and `imageJobs` the image outputs, whose last published files
    /// are kept. An output is not listed if it has changed, if another job file has adopted it, or if it is a source.
    package func strays(
        requested: Set<DestinationPath>, imageJobs: Set<JobKey> = [], sources: Set<SourceFileKey>
    ) -> [Stray] {
        let templates = requested.compactMap { ImageNameTemplate($0.path) }
        let requested = requested.union(destinations(of: imageJobs))
        var strays: [Stray] = []
        var seen: Set<ExactString> = []
        for (folder, known) in stored {
            let owners = Dictionary(
                folders.filter { $0.value == folder }.keys.compactMap { file in
                    names[file].map { ($0.exact, file.text) }
                },
                uniquingKeysWith: { first, _ in first })
            for record in known.published {
                guard let file = owners[record.job.file.exact], isStray(record, of: file, in: folder) else {
                    continue
                }
                // An image output with a matching name template may have adopted the file of another job.
                let isOfJob = imageJobs.contains {
                    $0.id == OutputName(record.job.id).whole.description && $0.file == file
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

    /// Returns the files that the given image outputs last published.
    private func destinations(of imageJobs: Set<JobKey>) -> [DestinationPath] {
        if imageJobs.isEmpty { return [] }
        return folders.flatMap { file, folder -> [DestinationPath] in
            guard let name = names[file], let records = stored[folder]?.records else { return [] }
            return records.values.compactMap { record in
                guard record.job.file.exact == name.exact,
                    imageJobs.contains(
                        JobKey(file: file.text, id: OutputName(record.job.id).whole.description))
                else { return nil }
                return record.destination.flatMap { DestinationPath($0) }
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
            let record = stored[stray.folder]?.published(name, at: stray.path),
            let file = names.first(where: {
                $0.value.exact == stray.file.exact && folders[$0.key] == stray.folder
            })?.key.text,
            isStray(record, of: file, in: stray.folder)
        else { return false }
        let isFolder = FileIdentity(path: stray.path)?.isDirectory == true
        guard isFolder ? TemporaryFolder.remove(stray.path, in: environment.root) : unlink(stray.path) == 0
        else {
            throw StateError("\(stray.path) can't be removed: \(String(cString: strerror(errno)))")
        }
        try stores[stray.folder]?.deleteRecord(name, at: stray.path)
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
