internal import FoundationEssentials
package import JobPlan
internal import LibAV
internal import FileSystem

/// Report entries of outputs, stored with the state. A report describes an output that is up to date as in the run that
/// created it.
package struct StoredReports: Sendable {
    let records: StateRecords
    let shortcuts: ShortcutCheck
    /// Root beneath which all files must be.
    let root: PathRoot

    /// Stores the entries of created outputs. Replaces entries of outputs that are up to date and unchanged by the
    /// stored ones, and adds their previews up to a total of `limit`. A lost entry causes no rerun.
    package func complete(_ report: inout RunReport, previews: inout [OutputKey: JobPreview], limit: Int) {
        storeEntries(of: report.jobs, previews)
        var upToDate: [StateFolder: [(StateStore.JobName, index: Int)]] = [:]
        for (index, job) in report.jobs.enumerated() where job.outcome == .upToDate {
            guard let store = records.store(of: job.file), let name = records.jobName(job.file, job.id) else {
                continue
            }
            upToDate[store.folder, default: []].append((name, index))
        }
        for (folder, jobs) in upToDate {
            let stored = records.store(in: folder)?.storedReports(of: jobs.map(\.0)) ?? [:]
            for (name, index) in jobs {
                let job = report.jobs[index]
                guard let stored = stored[name], let entry: RunReport.Job = Self.value(stored.job) else {
                    // If the creating run was killed or wrote no report, only the destination is known.
                    let publishedOutput = records.published(name, in: folder)
                    report.jobs[index].destination = job.destination ?? publishedOutput?.destination
                    report.jobs[index].output = job.output ?? publishedOutput?.output
                    continue
                }
                let isUnchanged =
                    entry.isCheck
                    ? records.checkRecord(job.file, job.id)?.output == stored.output
                    : entry.isUnchanged(beneath: root)
                guard entry.isValid, entry.output == stored.output, isUnchanged,
                    job.output == nil || job.output == entry.output
                else { continue }
                report.jobs[index] = job.completed(
                    by: entry, isSameSpec: stored.spec == shortcuts.spec(of: job.file))
                if previews.count < limit, let preview: JobPreview = stored.preview.flatMap(Self.value) {
                    previews[job.key] = preview.sizeLimited
                }
            }
        }
    }

    /// Stores the entries of created outputs for which a bit rate or `crf` was searched, for `explain`.
    package func storeSearches(of report: RunReport) {
        storeEntries(of: report.jobs.filter { $0.encodes != nil || $0.quality != nil }, [:])
    }

    /// Stores the entries of the outputs that the run created.
    private func storeEntries(of jobs: [RunReport.Job], _ previews: [OutputKey: JobPreview]) {
        var created: [StateFolder: [(StateStore.JobName, StateStore.StoredReport)]] = [:]
        for job in jobs {
            guard let store = records.store(of: job.file), let name = records.jobName(job.file, job.id),
                let entry = storedReport(job, previews[job.key])
            else { continue }
            created[store.folder, default: []].append((name, entry))
        }
        for (folder, stored) in created { records.store(in: folder)?.storeReports(stored) }
    }

    /// Returns the entry of an output that the run created; nil for any other output.
    private func storedReport(_ job: RunReport.Job, _ preview: JobPreview?) -> StateStore.StoredReport? {
        guard job.outcome == .succeeded, let output = job.output, let text = Self.text(job) else {
            return nil
        }
        return .init(
            output: output, spec: shortcuts.spec(of: job.file), job: text, preview: preview.flatMap(Self.text)
        )
    }

    /// Returns the bit rates that were tried for an output, or the similarity over the values of `crf`, in lines; none if the
    /// output has been replaced since.
    func search(of task: OutputTask) -> [String] {
        guard task.output.targetSize != nil || task.output.targetQuality != nil,
            let store = records.store(of: task.file), let name = records.jobName(task.file, task.name),
            let stored = store.storedReports(of: [name])[name],
            let entry: RunReport.Job = Self.value(stored.job), entry.isValid,
            stored.output == records.published(name, in: store.folder)?.output
        else { return [] }
        let sizes = entry.encodes.map { "target_size: " + SizeFit.text($0.map { ($0.rate, $0.size) }) }
        let quality = entry.quality.map { quality in
            let target = "\(quality.metric.rawValue) \(quality.metric.text(quality.target))"
            return ["quality: \(target), within \(quality.metric.text(quality.within))"]
                + quality.curve.map { "  " + $0 }
        }
        return [sizes].compactMap(\.self) + (quality ?? [])
    }

    private static func text(_ value: some Encodable) -> String? {
        (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func value<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

extension RunReport.Job {
    /// Returns the entry of an output that is up to date, with the values from the run that created it. Line numbers
    /// are kept only if the job file is unchanged.
    fileprivate func completed(by known: RunReport.Job, isSameSpec: Bool) -> RunReport.Job {
        var job = known
        (job.id, job.file, job.outcome, job.reason) = (id, file, outcome, reason)
        (job.begun, job.seconds, job.slot, job.attempts) = (begun, seconds, slot, attempts)
        if line > 0 || !isSameSpec { job.line = line }
        if !isSameSpec {
            for index in job.expectations.indices { job.expectations[index].location = file }
        }
        return job
    }
}
