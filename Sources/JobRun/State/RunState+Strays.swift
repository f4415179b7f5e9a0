internal import ExactStrings
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
public import Publishing

/// What earlier runs did and left behind.
extension RunState {
    // MARK: What was

    /// The latest runs of all folders, newest first.
    public func history(limit: Int) throws(StateError) -> [(
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
    /// destinations of all jobs. What somebody changed since, what another job file made its own, and what is a source is
    /// not listed.
    public func strays(asked: Set<DestinationPath>, sources: Set<SourceFileKey>) -> [Stray] {
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
    public func remove(_ stray: Stray) throws(StateError) -> Bool {
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

/// An output that was published and is no longer asked for.
public struct Stray: Sendable {
    /// The job file's name in the state.
    public var file: String
    /// The job that made it.
    public var job: String
    /// Its absolute path.
    public var path: String
    /// Where it is remembered.
    public var folder: StateFolder
}
