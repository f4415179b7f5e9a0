internal import ExactStrings
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import FileSystem
internal import Publishing

/// Recording of a run's outcomes in the stores.
extension RunState {
    /// Records the start of a run in each store.
    package func begin() throws(StateError) {
        for store in records.all {
            try store.begin(files: records.fileNames(in: store.folder))
        }
    }

    /// Records that an output is about to be published on a file system without support for marks.
    package func recordIntent(_ task: OutputTask, output: String, digest: PlanDigest?) throws {
        guard let destination = task.output.destination else { return }
        try records.store(of: task.file)?.recordIntent(
            destination: destination,
            StateStore.Intent(output: output, digest: digest?.value))
    }

    /// Records that an output was created, or that its plan shows it to be up to date.
    package func succeeded(_ task: OutputTask, digest: PlanDigest, seconds: Double) {
        guard let store = records.store(of: task.file), let job = records.jobName(task.file, task.name),
            let destination = task.output.destination,
            let output = TemporaryFile.fingerprint(path: destination)
        else { return }
        // For an output with several files the shortcut is recorded once all of them exist.
        let shortcut = task.output.hasSeveralFiles ? nil : shortcuts.shortcut(of: task)
        store.record(
            StateStore.Record(
                job: job, shortcut: shortcut,
                digest: digest.value, destination: destination, output: output, seconds: seconds),
            // The parts of the digest are stored once, with the first file.
            digest: task.part == 0 ? digest : nil)
    }

    /// Records that all files of an output exist. Records of further files from an earlier run are obsolete.
    package func succeeded(whole task: OutputTask) {
        guard task.output.kind.plan.hasVariableFileCount, let store = records.store(of: task.file),
            let name = records.jobName(task.file, task.name)
        else { return }
        let (shortcut, count) = (shortcuts.shortcut(of: task), task.output.files.count)
        store.record(
            name, files: count,
            shortcut: task.output.hasSeveralFiles
                ? shortcut.map { $0.with(files: count) } : nil)
    }

    /// Records that a job ended without success.
    func ended(
        _ file: String, _ id: String, outcome: PastRun.Attempt.Outcome, message: String, seconds: Double
    ) {
        guard let store = records.store(of: file), let name = records.jobName(file, id) else { return }
        store.record(name, outcome: outcome, message: message, seconds: seconds)
    }

    /// Records the end of the run in each store. Returns the write errors.
    package func end(_ records: [JobRecord], status: RunReport.Status) -> [StateError] {
        var problems: [StateError] = []
        for store in self.records.all {
            let own = records.filter { self.records.folder(of: $0.file) == store.folder }
            for case let plan? in own.lazy.filter(\.outcome.isSuccess).map(\.plan) { recordTracks(of: plan) }
            let current = own.count { $0.outcome.isUpToDate }
            let done = own.count { $0.outcome.isSuccess } - current
            if let problem = store.end(
                done: done, current: current, failed: own.count - done - current, status: status)
            {
                problems.append(problem)
            }
        }
        return problems
    }

    /// Records the tracks for which outputs of a finished job exist.
    private func recordTracks(of plan: JobPlan) {
        for output in plan.dividedOutputs ?? [] {
            let whole = OutputName(job: plan.id, output: output)
            let parts = plan.outputs.compactMap(\.id).map { OutputName(job: plan.id, output: $0) }.filter {
                $0.undivided == whole
            }
            guard let store = records.store(of: plan.file),
                let name = records.jobName(plan.file, whole.description)
            else { continue }
            store.record(
                name, dividedInto: parts.compactMap { records.jobName(plan.file, $0.description)?.id })
        }
    }

    /// Transfers the mark of an output that another job file created to this job file.
    package func adopt(_ task: OutputTask) {
        guard let destination = task.output.destination, var mark = DestinationPath.mark(at: destination),
            mark.owner != DestinationPath.Mark.owner(task.file, at: destination)
        else { return }
        mark.owner = DestinationPath.Mark.owner(task.file, at: destination)
        mark.job = task.name
        write(mark, to: destination)
    }

    /// Records that an existing output meets its current expectations.
    package func expectationsMet(_ task: OutputTask, _ digest: PlanDigest) {
        adopt(task)
        if let destination = task.output.destination, var mark = DestinationPath.mark(at: destination) {
            mark.digest = digest.value.text
            write(mark, to: destination)
        }
        succeeded(task, digest: digest, seconds: seconds(of: task) ?? 0)
    }

    /// Records existing files as the output of the current plan, whoever created them. Returns the path of a file that can be
    /// neither marked nor recorded in a store; nil if there is none.
    package func accept(_ task: OutputTask, _ digest: PlanDigest) -> String? {
        for part in task.files {
            guard let destination = part.output.destination,
                let output = TemporaryFile.fingerprint(path: destination)
            else { continue }
            let mark = DestinationPath.Mark(
                output: output, digest: digest.value.text,
                owner: DestinationPath.Mark.owner(part.file, at: destination), job: part.name)
            let isMarked = TemporaryFile.setAttribute(
                DestinationPath.attribute, mark.text, path: destination, in: contents.environment.root)
            if !isMarked, records.store(of: part.file) == nil { return destination }
            succeeded(part, digest: digest, seconds: seconds(of: part) ?? 0)
        }
        succeeded(whole: task)
        return nil
    }

    /// Returns whether a file is unchanged since it was published, for any job.
    package func isPublished(_ task: OutputTask) -> Bool {
        guard let destination = task.output.destination else { return false }
        if DestinationPath.mark(at: destination) != nil { return true }
        let record = records.record(task.file, task.name)
        return record?.destination?.exact == destination.exact && record?.output != nil
            && record?.output == TemporaryFile.fingerprint(path: destination)
    }

    /// Writes the records to the stores, without the end of a run.
    package func save() throws(StateError) {
        for store in records.all { try store.save() }
    }

    private func write(_ mark: DestinationPath.Mark, to destination: String) {
        _ = TemporaryFile.setAttribute(
            DestinationPath.attribute, mark.text, path: destination, in: contents.environment.root)
    }
}
