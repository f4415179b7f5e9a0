internal import ExactStrings
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
package import Publishing

/// What earlier runs did and left behind.
extension RunState {
    // MARK: What was

    /// The latest runs of all folders, newest first.
    package func history(limit: Int) throws(StateError) -> [(
        folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt]
    )] {
        var all: [(folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt])] = []
        for place in places {
            guard let store = stores[place] else { continue }
            let names = Set(folders.filter { $0.value == place }.keys.map { Self.lastPart($0.text) })
            // As many as are kept: those of other job files are left out.
            for (index, run) in try store.runs(limit: 200).enumerated() {
                var run = run
                let isAsked =
                    run.files.split(separator: " ").contains { names.contains(Self.lastPart(String($0))) }
                    || names.contains { $0.contains(" ") && run.files.contains($0) }
                guard isAsked else { continue }
                if index == 0, run.ended == nil, StateLock.isHeld(place) { run.status = "running" }
                all.append((place, run, try store.attempts(ofRun: run.number)))
            }
        }
        return Array(all.sorted { $0.run.begun > $1.run.begun }.prefix(limit))
    }

    private static func lastPart(_ path: String) -> String {
        path.pathParts.last ?? path
    }

    /// Outputs that were published for jobs which the files no longer have, or which go elsewhere now: `asked` are the
    /// destinations of all jobs; of outputs of stills those that they last had are. What somebody changed since, what another job file
    /// made its own, and what is a source is not listed.
    package func strays(
        asked: Set<DestinationPath>, stills: Set<JobKey> = [], sources: Set<SourceFileKey>
    ) -> [Stray] {
        let templates = asked.compactMap { StillTemplate($0.path) }
        let asked = asked.union(destinations(of: stills))
        var strays: [Stray] = []
        var seen: Set<ExactString> = []
        for (place, known) in known {
            let owners = Dictionary(
                folders.filter { $0.value == place }.keys.compactMap { file in
                    names[file].map { ($0.exact, file.text) }
                },
                uniquingKeysWith: { first, _ in first })
            for record in known.published {
                guard let file = owners[record.job.file.exact], isLeft(record, of: file, in: place) else {
                    continue
                }
                // What another job made a job that names its stills so may make its own.
                let isOfJob = stills.contains { $0.id == OutputTask.whole(record.job.id) && $0.file == file }
                if !isOfJob, templates.contains(where: { $0.matches(record.destination) }) { continue }
                guard let path = DestinationPath(record.destination), !asked.contains(path),
                    seen.insert(record.destination.exact).inserted,
                    let identity = FileIdentity(path: record.destination),
                    !sources.contains(SourceFileKey(identity))
                else { continue }
                strays.append(
                    Stray(file: record.job.file, job: record.job.id, path: record.destination, folder: place))
            }
        }
        return strays.sorted { ($0.file, $0.path) < ($1.file, $1.path) }
    }

    /// Where the files of outputs of stills are that were made last.
    private func destinations(of stills: Set<JobKey>) -> [DestinationPath] {
        if stills.isEmpty { return [] }
        return folders.flatMap { file, place -> [DestinationPath] in
            guard let name = names[file], let records = known[place]?.records else { return [] }
            return records.values.compactMap { record in
                guard record.job.file.exact == name.exact,
                    stills.contains(JobKey(file: file.text, id: OutputTask.whole(record.job.id)))
                else { return nil }
                return DestinationPath(record.destination)
            }
        }
    }

    /// An output is as it was published, and still that job file's.
    private func isLeft(_ record: StateStore.Former, of file: String, in place: StateFolder) -> Bool {
        guard TemporaryFile.fingerprint(path: record.destination) == record.output else { return false }
        // A record may have come with a repository; the mark can't.
        guard let mark = DestinationPath.mark(at: record.destination) else {
            return !TemporaryFile.takesAttributes(record.destination) && StateSecret.holds(place)
        }
        return mark.owner == Self.owner(file, at: record.destination)
    }

    /// A job file in the mark of one of its outputs: a digest of the way there from the output's folder, so that a tree which is moved or copied as a whole stays whose it was.
    static func owner(_ file: String, at destination: String) -> String {
        let own = StateFolder.absolute(file: file).pathParts
        let folder = destination.pathParts.dropLast()
        let common = zip(own.dropLast(), folder).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        let way = [String](repeating: "..", count: folder.count - common) + own[common...]
        return ContentDigest.of(way.joined(separator: "/").utf8)
    }

    /// Removes an output that is no longer asked for, if it still is what was published; false where it isn't.
    package func remove(_ stray: Stray) throws(StateError) -> Bool {
        let name = StateStore.JobName(file: stray.file, id: stray.job)
        guard
            let record = known[stray.folder]?.published(name, at: stray.path),
            let file = names.first(where: {
                $0.value.exact == stray.file.exact && folders[$0.key] == stray.folder
            })?.key.text,
            isLeft(record, of: file, in: stray.folder)
        else { return false }
        guard unlink(stray.path) == 0 else {
            throw StateError("\(stray.path) can't be removed: \(String(cString: strerror(errno)))")
        }
        try stores[stray.folder]?.forget(name, at: stray.path)
        return true
    }
}

/// A destination that names each still by its number or its time.
private struct StillTemplate {
    private let before: String
    private let after: String

    /// Nil where nothing in it is of each still.
    init?(_ path: String) {
        let marks = [ImagesSpec.Placeholder.number, ImagesSpec.Placeholder.time]
        guard let first = marks.compactMap({ path.firstRange(of: $0)?.lowerBound }).min(),
            let last = marks.compactMap({ path.ranges(of: $0).last?.upperBound }).max()
        else { return nil }
        (before, after) = (String(path[..<first]), String(path[last...]))
    }

    func matches(_ path: String) -> Bool { path.hasPrefix(before) && path.hasSuffix(after) }
}

/// An output that was published and is no longer asked for.
package struct Stray: Sendable {
    /// The job file's name in the state.
    package var file: String
    /// The job that made it.
    package var job: String
    /// Its absolute path.
    package var path: String
    /// Where it is remembered.
    package var folder: StateFolder
}
