package import ExactStrings
internal import Glibc
package import JobPlan
internal import JobSpec
package import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing

/// The property by which an unchanged source is recognized.
package enum FingerprintMode: String, Sendable, CaseIterable {
    /// Size, time of last change and inode.
    case stat
    /// The SHA-256 of its bytes.
    case content
}

/// The state that earlier runs of a call's job files left, and that this run writes.
///
/// A job is up to date if the digest of its plan is the one that its output was created with, and the output
/// is unchanged. This is determined in two ways: from the job file, before the source is probed (`upToDateJobs`),
/// and from the plan itself (`relation`), which also uses the output's mark if the store has lost its record.
package final class RunState: PlanMemory, Sendable {
    /// An output and the store's name of the job file that owns it; nil if the owner isn't known.
    struct OwnedFile: Hashable, Sendable {
        var output: String
        var file: String?
    }

    struct StoredState: Sendable {
        var records: [StateStore.JobName: StateStore.Record]
        /// Published files, with or without a mark, by path: what was published last, and what was about to be
        /// published.
        var outputs: [ExactString: Set<OwnedFile>]
        /// Outputs that were about to be published, by path.
        var intents: [ExactString: StateStore.Intent]
        /// Outputs that jobs published at earlier destinations.
        var formerOutputs: [StateStore.PublishedOutput]
        /// Warnings about outputs.
        var warnings: [StateStore.JobName: StateStore.OutputWarnings]
        /// All outputs that were published and not removed.
        var published: [StateStore.PublishedOutput] {
            records.values.compactMap(\.publishedOutput) + formerOutputs
        }

        /// Returns the record of an output that a job published at a destination.
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
    /// Access to sources, and the root beneath which all files lie.
    let environment: SourceEnvironment
    let specs: [ExactString: String]
    let isForced: Bool
    let shortcuts = Guarded(Shortcuts())

    /// Opens the state of some job files. `specs`: a digest of everything that each file's jobs were decoded from.
    /// Shortcuts of a file without such a digest are never used. `isReading` writes nothing.
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
            // No record overrides another, since the progress of a killed run is unknown.
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

    /// Creates a state without stores. Only the marks of the outputs are used.
    package init(isForced: Bool, environment: SourceEnvironment) {
        self.environment = environment
        (stores, folders, stored, names, specs) = ([:], [:], [:], [:], [:])
        mode = .stat
        damagedFolders = []
        self.isForced = isForced
    }

    /// Returns the store of a job file.
    func store(of file: String) -> StateStore? { folders[file.exact].flatMap { stores[$0] } }
    func store(in folder: StateFolder) -> StateStore? { stores[folder] }
    /// Returns the output that a job published when it last succeeded.
    func published(_ job: StateStore.JobName, in folder: StateFolder) -> StateStore.PublishedOutput? {
        stored[folder]?.records[job]?.publishedOutput
    }
    /// Returns the digest of a job file's contents; empty if it isn't known.
    func spec(of file: String) -> String { specs[file.exact] ?? "" }

    /// State folders in use.
    package var stateFolders: [StateFolder] { stores.keys.sorted { $0.path < $1.path } }

    /// Folders whose state was damaged. A new state replaces it, or it is ignored if nothing is written.
    package let damagedFolders: [StateFolder]

    // MARK: Up-to-date checks

    /// Returns whether a file without a mark was published for a job file (`PlanMemory`).
    package func owns(_ path: String, for file: String) -> Bool {
        // A mark contains the owner itself, so that no record is needed.
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
        guard let mark = Self.mark(of: task), !mark.digest.isEmpty else { return false }
        return digest(of: task).map { $0.relation(to: DigestValue(mark.digest)) != .other } ?? false
    }

    /// Returns the mark of a file; nil if the file is another of the output's files that was moved to this path.
    static func mark(of task: OutputTask) -> DestinationPath.Mark? {
        task.output.destination.flatMap { DestinationPath.mark(at: $0) }.flatMap {
            OutputTask.part(of: $0.job) == task.part ? $0 : nil
        }
    }

    /// Returns the owner that the mark of a job file's output contains (`PlanMemory`).
    package func owner(ofFile path: String, at destination: String) -> String? {
        Self.owner(path, at: destination)
    }

    /// Returns the digest of an output's plan, and the relation of the files at the destination to it.
    package func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation) {
        guard let digest = digest(of: task) else { return (nil, .other) }
        if task.output.isCheck { return relation(ofCheck: task, by: digest) }
        // The output isn't current if one of its files isn't.
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

    /// Returns the relation of one file to the plan.
    private func relation(
        of task: OutputTask, by digest: PlanDigest
    ) -> (digest: PlanDigest, relation: PlanDigest.Relation) {
        guard !isForced, let destination = task.output.destination,
            let now = TemporaryFile.fingerprint(path: destination)
        else { return (digest, .other) }
        let intended = intendedDigest(task.file, destination, output: now)
        // Both files have equal size and time, so that it is unknown which one this is.
        if intended == "" { return (digest, .other) }
        var kept = [intended, Self.mark(of: task)?.digest].compactMap { $0.map(DigestValue.init) }
        if let record = record(task.file, task.name),
            record.destination?.exact == destination.exact,
            record.output == now
        {
            kept.insert(DigestValue(record.digest), at: 0)
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

    /// Returns the digest of a file that was published by a run that ended before recording it; empty if the
    /// file that it replaced had equal size and time.
    private func intendedDigest(_ file: String, _ destination: String, output: String) -> String? {
        guard let folder = folders[file.exact],
            let intent = stored[folder]?.intents[destination.exact], intent.output == output
        else { return nil }
        return intent.digest
    }

    /// Returns the digest of an output's plan; nil if the source can't be read.
    func digest(of task: OutputTask) -> PlanDigest? {
        var content: String?
        if mode == .content {
            switch task.input.source {
            case .file(let path, let identity):
                guard let found = self.content(path, identity, file: task.file) else { return nil }
                content = found
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

    /// Returns the digest for the other fingerprint mode, so that outputs stay up to date when the mode is
    /// changed.
    func digestForOtherMode(_ task: OutputTask) -> PlanDigest? {
        guard case .file(let path, _) = task.input.source else { return nil }
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

    /// Returns the reasons why an output would be created, a line each, or its expectations that would be
    /// evaluated; empty if it is up to date.
    package func reasons(for task: OutputTask) throws(StateError) -> RunReasons {
        if task.output.isCheck { return try reasons(forCheck: task) }
        // The digest is computed once for all files: its length grows with the number of still images, which
        // may be thousands.
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
        // Computing the digest takes half as long as planning, and there is nothing to compare it with.
        if isNew, mode == .stat { return unknown }
        guard let whole = makeDigest() else { return RunReasons(lines: ["the source can't be read"]) }
        let (digest, relation) = relation(of: task, by: whole)
        let before: PlanDigest?
        if let record, let store = store(of: task.file) {
            let output = StateStore.JobName(file: record.job.file, id: OutputTask.whole(record.job.id))
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
        if record.output != now { return RunReasons(lines: ["its output was changed since"]) }
        return RunReasons(lines: before.map { digest.changes(since: $0) } ?? ["its plan changed"])
    }

    /// Returns the seconds that the job took when it last created the output.
    package func seconds(of task: OutputTask) -> Double? { record(task.file, task.name)?.seconds }

    /// Returns the seconds that a job took when it last ran; nil if one of its outputs was never created.
    package func seconds(of plan: JobPlan) -> Double? {
        let all = plan.tasks.map { seconds(of: $0) }
        return all.contains { $0 == nil } ? nil : all.compactMap { $0 }.max()
    }

    func record(_ file: String, _ id: String) -> StateStore.Record? {
        guard let folder = folders[file.exact], let name = names[file.exact] else { return nil }
        return stored[folder]?.records[StateStore.JobName(file: name, id: id)]
    }
}
