package import ExactStrings
internal import Glibc
package import JobPlan
internal import JobSpec
package import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing

/// The property that identifies an unchanged source.
package enum FingerprintMode: String, Sendable, CaseIterable {
    /// Size, time of the last change and inode.
    case stat
    /// SHA-256 of the file's bytes.
    case content
}

/// The state of earlier runs of the given job files, which this run updates.
///
/// A job is up to date if its output was created with the digest of the current plan and is unchanged. This is
/// determined in two ways: by the job file, before the source is probed (`upToDateOutputs`), and by the plan
/// (`relation`), which also uses the output's mark if the store has lost its record.
package final class RunState: PlanMemory, OutputRecords, Sendable {
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

    struct Shortcuts: Sendable {
        var byOutput: [JobKey: String] = [:]
    }

    let stores: [StateFolder: StateStore]
    let folders: [ExactString: StateFolder]
    let stored: [StateFolder: StoredState]
    /// Names of the job files in the stores.
    let names: [ExactString: String]
    let mode: FingerprintMode
    /// Access to sources, and the root beneath which all files must be.
    let environment: SourceEnvironment
    let specs: [ExactString: String]
    package let isForced: Bool
    let shortcuts = Guarded(Shortcuts())

    /// Opens the state of the given job files. `specs` contains the digest of everything from which each file's jobs
    /// were decoded; without it, the file's shortcuts are not used. With `isReading`, nothing is written.
    package init(
        files: [String], folder: StateFolder?, environment: SourceEnvironment,
        specs: [ExactString: String], mode: FingerprintMode = .stat,
        isForced: Bool = false, isReading: Bool = false
    ) throws(StateError) {
        var stores: [StateFolder: StateStore] = [:]
        var folders: [ExactString: StateFolder] = [:]
        var known: [StateFolder: StoredState] = [:]
        var names: [ExactString: String] = [:]
        var damaged: [StateFolder] = []
        for file in files {
            let stateFolder = folder ?? StateFolder(adjacentToJobFile: file, beneath: environment.root)
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
            let (records, intents, former, warned) = store.initialContents
            // No record takes precedence over another, since it is unknown how far a killed run came.
            var outputs = intents.mapValues { Set([OwnedFile(output: $0.output)]) }
            for output in former {
                outputs[output.destination.exact, default: []].insert(
                    OwnedFile(output: output.output, file: output.job.file))
            }
            for output in records.values.compactMap(\.publishedOutput) {
                outputs[output.destination.exact, default: []].insert(
                    OwnedFile(output: output.output, file: output.job.file))
            }
            known[stateFolder] = StoredState(
                records: records, outputs: outputs, intents: intents, formerOutputs: former, warnings: warned)
        }
        self.stores = stores
        self.folders = folders
        self.stored = known
        self.mode = mode
        self.environment = environment
        self.specs = specs
        self.isForced = isForced
        self.names = names
        self.damagedFolders = damaged
    }

    /// Creates a state without stores, which uses only the marks of the outputs.
    package init(isForced: Bool, environment: SourceEnvironment) {
        self.environment = environment
        (stores, folders, stored, names, specs) = ([:], [:], [:], [:], [:])
        mode = .stat
        damagedFolders = []
        self.isForced = isForced
    }

    func store(of file: String) -> StateStore? { folders[file.exact].flatMap { stores[$0] } }
    func store(in folder: StateFolder) -> StateStore? { stores[folder] }
    /// Returns the output of a job's last success.
    func published(_ job: StateStore.JobName, in folder: StateFolder) -> StateStore.PublishedOutput? {
        stored[folder]?.records[job]?.publishedOutput
    }
    /// Returns the digest of a job file's contents; empty if it is unknown.
    func spec(of file: String) -> String { specs[file.exact] ?? "" }

    /// State folders in use, ordered by path.
    package var stateFolders: [StateFolder] { stores.keys.sorted { $0.path < $1.path } }

    /// Folders whose database was damaged. It was replaced by a new one or, if nothing is written, ignored.
    package let damagedFolders: [StateFolder]

    // MARK: Up-to-date checks

    /// Returns whether a file without a mark was published for a job file (`PlanMemory`).
    package func owns(_ path: String, for file: String) -> Bool {
        // For a file with a mark, the mark itself states the owner.
        guard let now = TemporaryFile.fingerprint(path: path), DestinationPath.mark(at: path) == nil,
            let folder = folders[file.exact], let outputs = stored[folder]?.outputs[path.exact]
        else { return false }
        let isKnown =
            outputs.contains(OwnedFile(output: now))
            || outputs.contains(OwnedFile(output: now, file: names[file.exact]))
        return isKnown && StateSecret.isSigned(folder)
    }

    /// Returns whether the file at an output's destination was created by an equal plan (`PlanMemory`).
    package func wasCreated(by task: OutputTask) -> Bool {
        guard let mark = DestinationPath.Mark.of(task), !mark.digest.isEmpty else { return false }
        return digest(of: task).map { $0.relation(to: DigestValue(mark.digest)) != .other } ?? false
    }

    /// Returns the owner that marks of a job file's outputs contain (`PlanMemory`).
    package func owner(ofFile path: String, at destination: String) -> String? {
        DestinationPath.Mark.owner(path, at: destination)
    }

    /// Returns the digest of an output's plan and how the existing files relate to it.
    package func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation) {
        guard let digest = digest(of: task) else { return (nil, .other) }
        if !task.output.isPublished { return relation(ofCheck: task, by: digest) }
        // The relation of an output is the worst of those of its files.
        var (found, worst) = (digest, PlanDigest.Relation.current)
        for part in task.files {
            let (own, relation) = self.relation(of: part, by: digest)
            if case .current = relation {
                if own.value != digest.value { found = own }
            } else {
                worst = relation
            }
            if case .other = worst { return (digest, .other) }
        }
        return (found, worst)
    }

    /// Returns how one file relates to the plan.
    private func relation(
        of task: OutputTask, by digest: PlanDigest
    ) -> (digest: PlanDigest, relation: PlanDigest.Relation) {
        guard !isForced, let destination = task.output.destination,
            let now = TemporaryFile.fingerprint(path: destination)
        else { return (digest, .other) }
        let intent = intent(task.file, destination, output: now)
        // The old and the new file have equal size and time, so it is unknown which one this is.
        if let intent, intent.digest == nil { return (digest, .other) }
        let marked = DestinationPath.Mark.of(task).map { DigestValue($0.digest) }
        var kept = [intent?.digest, marked].compactMap { $0 }
        if let record = record(task.file, task.name),
            record.destination?.exact == destination.exact,
            record.output == now, let recorded = record.digest
        {
            kept.insert(recorded, at: 0)
        }
        var best: (kept: DigestValue?, relation: PlanDigest.Relation) = (nil, .other)
        func compare(_ digest: PlanDigest) {
            for one in kept where best.relation != .current && digest.relation(to: one) != .other {
                best = (one, digest.relation(to: one))
            }
        }
        compare(digest)
        if best.relation == .other, !kept.isEmpty { digestForOtherMode(task).map(compare) }
        return (best.kept?.skippedDamage == true ? digest.afterDamage : digest, best.relation)
    }

    /// Returns the intent of a run that published a file but was killed before recording it.
    private func intent(_ file: String, _ destination: String, output: String) -> StateStore.Intent? {
        guard let folder = folders[file.exact],
            let intent = stored[folder]?.intents[destination.exact], intent.output == output
        else { return nil }
        return intent
    }

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
        guard let word = FileIdentity.changeToken(path: path), let store = store(of: task.file),
            let content = try? store.content(path: path, identity: word)
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
        var hasher = SHA256Hasher()
        for index in package.files.indices {
            let path = package.path(of: index)
            guard let identity = FileIdentity(path: path), let one = content(path, identity, file: file)
            else { return nil }
            hasher.update("\(one)\n")
        }
        return package.currentIdentity == package.identity ? hasher.finish() : nil
    }

    private func content(_ sequence: ImageSequence, file: String) -> String? {
        var hasher = SHA256Hasher()
        for path in sequence.files {
            guard let identity = FileIdentity(path: path), let one = content(path, identity, file: file)
            else {
                return nil
            }
            hasher.update("\(one)\n")
        }
        return hasher.finish()
    }

    private func content(_ path: String, _ identity: FileIdentity, file: String) -> String? {
        let store = store(of: file)
        guard let word = FileIdentity.changeToken(path: path) else { return nil }
        if let known = try? store?.content(path: path, identity: word) { return known }
        guard let digest = SHA256Hasher.digest(ofFile: path, in: environment),
            FileIdentity(path: path) == identity,
            FileIdentity.changeToken(path: path) == word
        else { return nil }
        store?.record(content: digest, path: path, identity: word)
        return digest
    }

    /// Returns the reasons why an output would be created or its expectations evaluated; empty if it is up to date.
    package func reasons(for task: OutputTask) throws(StateError) -> RunReasons {
        if !task.output.isPublished { return try reasons(forCheck: task) }
        // The digest is computed once for all files: its cost grows with the number of still images, of which there may
        // be thousands.
        var known: PlanDigest??
        for part in task.files {
            guard let destination = part.output.destination else { continue }
            let reasons = try reasons(forFile: part, at: destination) {
                if known == nil { known = .some(digest(of: task)) }
                return known ?? nil
            }
            if !reasons.lines.isEmpty { return reasons }
        }
        return RunReasons(lines: [])
    }

    private func reasons(
        forFile task: OutputTask, at destination: String, by makeDigest: () -> PlanDigest?
    ) throws(StateError) -> RunReasons {
        let mark = DestinationPath.mark(at: destination)
        let now = TemporaryFile.fingerprint(path: destination)
        let record = record(task.file, task.name)
        let intent = folders[task.file.exact].flatMap { stored[$0]?.intents[destination.exact] }
        let isNew = record == nil && mark == nil && (intent == nil || intent?.output != now)
        let unknown = RunReasons(lines: [now == nil ? "no output yet" : "no record of an earlier run"])
        // Computing the digest takes half as long as planning, and a new output has no digest to compare with.
        if isNew, mode == .stat { return unknown }
        guard let whole = makeDigest() else { return RunReasons(lines: ["the source can't be read"]) }
        let (digest, relation) = relation(of: task, by: whole)
        let before: PlanDigest?
        if let record, let store = store(of: task.file) {
            let output = StateStore.JobName(
                file: record.job.file, id: OutputName(record.job.id).whole.description)
            before = try store.digest(of: output)
        } else {
            before = nil
        }
        switch relation {
        case .current: return RunReasons(lines: [])
        case .unevaluated where task.output.isReevaluable:
            let lines = before.map { digest.expectationChanges(since: $0) } ?? []
            return RunReasons(
                lines: lines.isEmpty ? ["its expectations were not evaluated"] : lines,
                onlyEvaluates: true)
        case .unevaluated, .other: break
        }
        guard let record else { return unknown }
        guard let former = record.destination else {
            return RunReasons(lines: ["the job was a check before, without an output"])
        }
        if former.exact != destination.exact {
            return RunReasons(lines: ["its destination was \(former) and is \(destination)"])
        }
        guard let now else { return RunReasons(lines: ["its output no longer exists: \(destination)"]) }
        if record.output != now {
            return RunReasons(lines: ["its output was changed after it was published"])
        }
        return RunReasons(lines: before.map { digest.changes(since: $0) } ?? ["its plan changed"])
    }

    /// Returns the duration of the job when it last created the output, in seconds.
    package func seconds(of task: OutputTask) -> Double? { record(task.file, task.name)?.seconds }

    /// Returns the duration of a job's last success in seconds; nil if one of its outputs was never created.
    package func seconds(of plan: JobPlan) -> Double? {
        let all = plan.tasks.map { seconds(of: $0) }
        return all.contains { $0 == nil } ? nil : all.compactMap { $0 }.max()
    }

    func record(_ file: String, _ id: String) -> StateStore.Record? {
        guard let folder = folders[file.exact], let name = jobName(file, id) else { return nil }
        return stored[folder]?.records[name]
    }

    /// Returns the name of a job or output in the store of its job file; nil if the file has no store. The file's path
    /// was resolved when the state was opened.
    func jobName(_ file: String, _ id: String) -> StateStore.JobName? {
        names[file.exact].map { StateStore.JobName(file: $0, id: id) }
    }
}
