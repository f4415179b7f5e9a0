internal import ExactStrings

/// The runs that are recorded in the state.
package struct RunHistory: Sendable {
    let records: StateRecords

    /// Returns the latest runs of all folders, newest first.
    package func runs(limit: Int) throws(StateError) -> [(
        folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt]
    )] {
        var all: [(folder: StateFolder, run: PastRun, attempts: [PastRun.Attempt])] = []
        for store in records.all {
            let folder = store.folder
            let requested = Set(records.fileNames(in: folder).map(\.exact))
            // All stored runs are read, because those of other job files are then filtered out.
            for (index, run) in try store.runs(limit: 200).enumerated() {
                var run = run
                guard run.files.contains(where: { requested.contains($0.exact) }) else { continue }
                if index == 0, run.ended == nil, StateLock.isHeld(folder) { run.status = .running }
                all.append((folder, run, try store.attempts(ofRun: run.number)))
            }
        }
        return Array(all.sorted { $0.run.begun > $1.run.begun }.prefix(limit))
    }
}
