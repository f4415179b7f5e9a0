internal import Diagnostics

/// Jobs that read what others publish.
extension JobExpander {
    /// The runs of a job that reads others' outputs: one for each of those.
    func read(_ runs: [Run], results: [[JobSpec]]) -> [JobSpec] {
        var expanded: [Run] = []
        for run in runs {
            guard case .job(let id, _, let named) = run.asset.source,
                let position = definition.positions[id.value]
            else {
                expanded.append(run)
                continue
            }
            for job in results[position] {
                guard let output = output(named, of: job, readBy: id) else { break }
                var copy = run
                copy.asset.source = .job(id, run: job.id.value, output: named)
                copy.facts.path = output.destination.path.value
                copy.facts.isPattern = job.isTemplate
                copy.isTemplate = job.isTemplate
                let label = job.id.value.dropFirst(job.base.count)
                if !label.isEmpty { copy.label.insert(String(label.dropFirst().dropLast()), at: 0) }
                expanded.append(copy)
            }
        }
        if expanded.count > Self.limit {
            if let run = runs.first {
                reader.sink.error(
                    .fanOut, "the job comes to more than \(Self.limit) runs",
                    at: definition.bases[run.base].id.range)
            }
            return []
        }
        for position in expanded.indices { expanded[position].index = position + 1 }
        return expanded.compactMap { Self.decode($0, definition: definition, reader: reader) }
    }

    /// The output that is read; said where it isn't there, or where it isn't said which of several.
    private func output(_ named: Located<String>?, of job: JobSpec, readBy id: Located<String>) -> OutputSpec?
    {
        if let output = job.output(named?.value) {
            guard let place = output.images?.range ?? output.waveform?.range else { return output }
            let what =
                output.images == nil
                ? "a waveform, which is no asset" : "stills, which this version can't read"
            reader.sink.error(
                .notSupported, "`\(job.base)` makes \(what)", at: (named ?? id).range,
                notes: [Diagnostic.Note("that is said here", at: place)])
            return nil
        }
        let ids = job.outputs.compactMap(\.id?.value)
        if let named {
            reader.sink.error(
                .undefinedName, "the job `\(job.base)` has no output `\(named.value)`", at: named.range,
                help: ids.isEmpty
                    ? "it has one output, which `asset: { job: \(job.base) }` reads"
                    : Suggestion.help(for: named.value, among: ids)
                        ?? "its outputs are \(ids.joined(separator: ", "))")
        } else {
            reader.sink.error(
                .missingKey, "the job `\(job.base)` has outputs with names: `output` says which one is read",
                at: id.range, help: "its outputs are \(ids.joined(separator: ", "))")
        }
        return nil
    }

    /// Jobs that wait, after the ones they read. What is in a circle or behind one is left out: `DependencyCheck`
    /// reports it.
    func order(_ waiting: [Int: [Run]]) -> [Int] {
        var readers: [Int: [Int]] = [:]
        var open: [Int: Int] = [:]
        var ready: [Int] = []
        for job in waiting.keys.sorted() {
            let needed = Set(
                (waiting[job] ?? []).compactMap(\.waitsFor).compactMap { definition.positions[$0.value] }
            )
            .filter { waiting[$0] != nil }
            open[job] = needed.count
            for other in needed { readers[other, default: []].append(job) }
            if needed.isEmpty { ready.append(job) }
        }
        var next = 0
        while next < ready.count {
            for reader in readers[ready[next]] ?? [] {
                open[reader, default: 0] -= 1
                if open[reader] == 0 { ready.append(reader) }
            }
            next += 1
        }
        return ready
    }
}
