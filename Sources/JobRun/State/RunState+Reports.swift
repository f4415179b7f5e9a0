internal import FoundationEssentials
package import JobPlan
internal import LibAV

/// Report entries of outputs, stored with the state, so that a report shows outputs that are up to date as in the run
/// that created them.
extension RunState {
    /// Stores the report entries of outputs that were created, and adds the stored entries of outputs that are up to
    /// date and unchanged. Adds previews up to a total of `most`. Losing the stored entries causes no rerun.
    package func complete(_ report: inout RunReport, previews: inout [JobKey: JobPreview], most: Int) {
        var made: [StateFolder: [(StateStore.JobName, StateStore.Said)]] = [:]
        var asked: [StateFolder: [(StateStore.JobName, index: Int)]] = [:]
        for (index, job) in report.jobs.enumerated() {
            guard let store = store(of: job.file) else { continue }
            let name = StateStore.JobName(file: store.name(ofFile: job.file), id: job.id)
            if job.outcome == "succeeded", let output = job.output, let text = Self.text(job) {
                let preview = previews[JobKey(file: job.file, id: job.id)].flatMap(Self.text)
                made[store.folder, default: []].append(
                    (name, .init(output: output, spec: spec(of: job.file), job: text, preview: preview)))
            } else if job.outcome == "up-to-date" {
                asked[store.folder, default: []].append((name, index))
            }
        }
        for (folder, said) in made { store(in: folder)?.keep(said) }
        for (folder, jobs) in asked {
            let said = store(in: folder)?.said(of: jobs.map(\.0)) ?? [:]
            for (name, index) in jobs {
                let job = report.jobs[index]
                guard let said = said[name], let known: RunReport.Job = Self.value(said.job) else {
                    // After a run that was killed, or that wrote no report, at least the destination is known.
                    let place = published(name, in: folder)
                    report.jobs[index].destination = job.destination ?? place?.destination
                    report.jobs[index].output = job.output ?? place?.output
                    continue
                }
                let stands =
                    known.kind == RunReport.Job.check
                    ? checkRecord(job.file, job.id)?.output == said.output
                    : known.stands(beneath: environment.root)
                guard known.isSound, known.output == said.output, stands,
                    job.output == nil || job.output == known.output
                else { continue }
                report.jobs[index] = job.completed(
                    by: known, isSameSpec: said.spec == spec(of: job.file))
                if previews.count < most, let preview: JobPreview = said.preview.flatMap(Self.value) {
                    previews[JobKey(file: job.file, id: job.id)] = preview.bounded
                }
            }
        }
    }

    private static func text(_ value: some Encodable) -> String? {
        (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func value<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

extension RunReport.Job {
    /// Returns the entry of an output that is up to date, with the values from when it was created. Lines are
    /// reported only if the job file still has the same contents.
    fileprivate func completed(by known: RunReport.Job, isSameSpec: Bool) -> RunReport.Job {
        var job = known
        (job.id, job.file, job.outcome, job.reason) = (id, file, outcome, reason)
        (job.begun, job.seconds, job.lane, job.attempts) = (begun, seconds, lane, attempts)
        if line > 0 || !isSameSpec { job.line = line }
        if !isSameSpec {
            for index in job.expectations.indices { job.expectations[index].place = file }
        }
        return job
    }
}
