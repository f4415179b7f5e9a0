internal import ExactStrings
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// The warnings from when outputs were created.
extension RunState {
    /// Stores the warnings of created outputs, and returns the records with the stored warnings of outputs that are
    /// up to date. Stored warnings are valid as long as the output is unchanged.
    package func withWarnings(_ records: [JobRecord]) -> [JobRecord] {
        records.map { record in
            guard let place = folders[record.file.exact], let store = stores[place] else { return record }
            func name(_ output: String?) -> StateStore.JobName {
                StateStore.JobName(
                    file: store.name(ofFile: record.file),
                    id: OutputTask.name(job: record.id, output: output))
            }
            func known(_ output: String?) -> [String] {
                guard let warned = self.known[place]?.warned[name(output)],
                    warned.output == self.known[place]?.records[name(output)]?.output
                else { return [] }
                return warned.lines
            }
            var record = record
            var made: [OutputResult] = []
            switch record.outcome {
            case .succeeded(let result): made = result.outputs
            case .upToDate: break
            default: return record
            }
            for output in made where !output.warnings.isEmpty {
                store.note(name(output.id), StateStore.Warned(output: output.output, lines: output.warnings))
            }
            let outputs = record.plan?.outputs.map(\.id) ?? record.settled.map(\.id)
            for id in outputs where !made.contains(where: { $0.id == id }) {
                let lines = known(id)
                if !lines.isEmpty { record.kept[id ?? ""] = lines }
                record.warnings += lines
            }
            return record
        }
    }
}
