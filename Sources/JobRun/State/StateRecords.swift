internal import ExactStrings
internal import FileSystem
internal import Publishing

/// The stores of the given job files, with their contents at the beginning of the run.
final class StateRecords: Sendable {
    /// The fingerprint of an output and the store's name of the job file that owns it; nil if the owner is unknown.
    struct OwnedFile: Hashable, Sendable {
        var output: String
        var file: String?
    }

    struct StoredState: Sendable {
        var records: [StateStore.JobName: StateStore.Record]
        /// Fingerprints that the file at a path may have: of the last published output, or of an intent.
        var outputs: [ExactString: Set<OwnedFile>]
        /// Intents to publish an output, by path.
        var intents: [ExactString: StateStore.Intent]
        /// Outputs that jobs published at earlier destinations.
        var formerOutputs: [StateStore.PublishedOutput]
        /// Warnings about outputs, by job and output.
        var warnings: [StateStore.JobName: StateStore.OutputWarnings]
        /// All outputs that were published and not removed since.
        var published: [StateStore.PublishedOutput] {
            records.values.compactMap(\.publishedOutput) + formerOutputs
        }

        /// Returns the record of the output that a job published at a destination.
        func published(_ job: StateStore.JobName, at destination: String) -> StateStore.PublishedOutput? {
            if let output = records[job]?.publishedOutput, output.destination.exact == destination.exact {
                return output
            }
            return formerOutputs.first { $0.job == job && $0.destination.exact == destination.exact }
        }
    }

    private let stores: [StateFolder: StateStore]
    private let folders: [ExactString: StateFolder]
    private let stored: [StateFolder: StoredState]
    /// Names of the job files in the stores.
    private let names: [ExactString: String]
    /// Folders whose database was damaged. It was replaced by a new one or, if nothing is written, ignored.
    let damagedFolders: [StateFolder]

    /// Opens the state of the given job files, in `folder` or beside each of them. With `isReading`, nothing is written.
    init(files: [String], folder: StateFolder?, beneath root: PathRoot, isReading: Bool) throws(StateError) {
        var stores: [StateFolder: StateStore] = [:]
        var folders: [ExactString: StateFolder] = [:]
        var known: [StateFolder: StoredState] = [:]
        var names: [ExactString: String] = [:]
        var damaged: [StateFolder] = []
        for file in files {
            let stateFolder = folder ?? StateFolder(adjacentToJobFile: file, beneath: root)
            folders[file.exact] = stateFolder
            if let store = stores[stateFolder] {
                names[file.exact] = store.name(ofFile: file)
                continue
            }
            let store: StateStore
            switch try StateStore.open(stateFolder, isReading: isReading) {
            case .none: continue
            case .damaged:
                damaged.append(stateFolder)
                continue
            case .open(let found): store = found
            }
            if store.wasDamaged { damaged.append(stateFolder) }
            stores[stateFolder] = store
            names[file.exact] = store.name(ofFile: file)
            let contents = store.initialContents
            // No record takes precedence over another, since it is unknown how far a killed run came.
            var outputs = contents.intents.mapValues { Set([OwnedFile(output: $0.output)]) }
            for output in contents.formerOutputs {
                outputs[output.destination.exact, default: []].insert(
                    OwnedFile(output: output.output, file: output.job.file))
            }
            for output in contents.records.values.compactMap(\.publishedOutput) {
                outputs[output.destination.exact, default: []].insert(
                    OwnedFile(output: output.output, file: output.job.file))
            }
            known[stateFolder] = StoredState(
                records: contents.records, outputs: outputs, intents: contents.intents,
                formerOutputs: contents.formerOutputs, warnings: contents.warnings)
        }
        self.stores = stores
        self.folders = folders
        self.stored = known
        self.names = names
        damagedFolders = damaged
    }

    /// Creates records without stores.
    init() {
        (stores, folders, stored, names, damagedFolders) = ([:], [:], [:], [:], [])
    }

    // MARK: Stores

    /// Stores in use, ordered by the path of their folder.
    var all: [StateStore] { stores.values.sorted { $0.folder.path < $1.folder.path } }

    /// Returns the store of a job file; nil if it has none.
    func store(of file: String) -> StateStore? { folders[file.exact].flatMap { stores[$0] } }
    /// Returns the store in a folder; nil if it isn't in use.
    func store(in folder: StateFolder) -> StateStore? { stores[folder] }
    /// Returns the state folder of a job file; nil if it wasn't given.
    func folder(of file: String) -> StateFolder? { folders[file.exact] }
    /// Returns the contents of a store at the beginning of the run; nil if it isn't in use.
    func contents(in folder: StateFolder) -> StoredState? { stored[folder] }

    // MARK: Job files

    /// Paths of the job files of a state folder, with their names in the store.
    func files(in folder: StateFolder) -> [(path: String, name: String)] {
        folders.filter { $0.value == folder }.keys.compactMap { file in names[file].map { (file.text, $0) } }
    }
    /// Returns the names of the job files of a state folder, sorted.
    func fileNames(in folder: StateFolder) -> [String] { files(in: folder).map(\.name).sorted() }

    /// Returns the name of a job or output in the store of its job file; nil if the file has no store. The file's path
    /// was resolved when the state was opened.
    func jobName(_ file: String, _ id: String) -> StateStore.JobName? {
        names[file.exact].map { StateStore.JobName(file: $0, id: id) }
    }

    // MARK: Records

    /// Returns the record of an output's last success.
    func record(_ file: String, _ id: String) -> StateStore.Record? {
        guard let folder = folders[file.exact], let name = jobName(file, id) else { return nil }
        return stored[folder]?.records[name]
    }

    /// Returns the record of a check. It has no digest if the source failed after it had passed.
    func checkRecord(_ file: String, _ name: String) -> StateStore.Record? {
        record(file, name).flatMap { $0.destination == nil ? $0 : nil }
    }

    /// Returns the output of a job's last success.
    func published(_ job: StateStore.JobName, in folder: StateFolder) -> StateStore.PublishedOutput? {
        stored[folder]?.records[job]?.publishedOutput
    }

    /// Returns the intent of a run that was killed before it recorded the file that it published at a destination.
    func intent(_ file: String, at destination: String) -> StateStore.Intent? {
        folders[file.exact].flatMap { stored[$0]?.intents[destination.exact] }
    }

    /// Returns whether a file without a mark was published for a job file.
    func owns(_ path: String, for file: String) -> Bool {
        // For a file with a mark, the mark itself states the owner.
        guard let now = TemporaryFile.fingerprint(path: path), DestinationPath.mark(at: path) == nil,
            let folder = folders[file.exact], let outputs = stored[folder]?.outputs[path.exact]
        else { return false }
        let isKnown =
            outputs.contains(OwnedFile(output: now))
            || outputs.contains(OwnedFile(output: now, file: names[file.exact]))
        return isKnown && StateSecret.isSigned(folder)
    }
}
