internal import JobPlan
internal import JobSpec

/// Warnings that are stored with the outputs they concern.
package struct StoredWarnings: Sendable {
    let state: StateRecords

    /// Stores the warnings of created outputs. Returns the records, to which the stored warnings of outputs that are up
    /// to date are added. Stored warnings are valid as long as the output is unchanged.
    package func adding(to records: [JobRecord]) -> [JobRecord] {
        records.map { record in
            guard let store = state.store(of: record.file) else { return record }
            let contents = state.contents(in: store.folder)
            func name(_ output: String?) -> StateStore.JobName? {
                state.jobName(record.file, OutputName(job: record.id, output: output).description)
            }
            func storedWarnings(_ output: String?) -> [String] {
                guard let name = name(output), let stored = contents?.warnings[name],
                    stored.output == contents?.records[name]?.output
                else { return [] }
                return stored.lines
            }
            var record = record
            var created: [OutputResult] = []
            switch record.outcome {
            case .succeeded(let result): created = result.outputs
            case .upToDate: break
            default: return record
            }
            for output in created where !output.warnings.isEmpty {
                guard let name = name(output.id) else { continue }
                store.record(
                    name, StateStore.OutputWarnings(output: output.output, lines: output.warnings))
            }
            let outputs = record.plan?.outputs.map(\.id) ?? record.upToDateOutputs.map(\.id)
            for id in outputs where !created.contains(where: { $0.id == id }) {
                let lines = storedWarnings(id)
                if !lines.isEmpty { record.earlierWarnings[id ?? ""] = lines }
                record.warnings += lines
            }
            return record
        }
    }
}
