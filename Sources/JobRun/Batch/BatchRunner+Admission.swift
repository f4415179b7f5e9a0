internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import JobSpec
internal import Media
internal import Publishing
internal import Synchronization

/// Whether a job can begin.
extension BatchRunner {
    /// Why a job can't be done now that everything it waited for has ended; nil where it can.
    func obstacle(to job: JobPlan) -> String? {
        func failed(_ id: String) -> Bool {
            outcomes[JobKey(file: job.file, id: id)].map { !$0.isSuccess } ?? false
        }
        if let id = job.readJobs.sorted().first(where: failed) {
            return "the job `\(id)`, whose output it reads, did not succeed"
        }
        for need in job.needs where !bases.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, has no run"
        }
        for need in job.needs where failures.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, did not succeed"
        }
        return nil
    }

    /// What a job fills, where that can be foretold, and why there is no room for it beside what runs.
    func room(for job: JobPlan) -> Room {
        let room = room(for: job, without: [])
        // Of several outputs, those that stay as they are take no room. To know them takes a digest, or a look at the whole
        // source: only where room is short.
        guard room.lack != nil, job.outputs.count > 1, let state else { return room }
        let kept = job.tasks.filter { state.standing($0).standing != .other }
        return kept.isEmpty ? room : self.room(for: job, without: Set(kept.map(\.output.destination.exact)))
    }

    private func room(for job: JobPlan, without kept: Set<ExactString>) -> Room {
        var room = Room(fills: [])
        for output in job.outputs where !kept.contains(output.destination.exact) {
            guard
                let size = output.expectedSize.map({ $0.adding(upToLimit: output.files.count > 1 ? $0 : 0) })
            else { continue }
            // Several files are made as one, and then taken apart.
            add(size, at: output.destination, to: &room) { free in
                "its output is likely to need \(PlanText.bytes(size)) for a length of \(PlanText.time(output.expectedDuration)), and \(PlanText.bytes(free)) are free at \(output.destination) (where it is known to be less, `limit: { size }` says so)"
            }
        }
        if let folder = policy.notesFolder, job.expectedNotes > 0 {
            let size = job.expectedNotes
            add(size, at: folder + "/notes", to: &room) { free in
                "the notes between its two passes are likely to need \(PlanText.bytes(size)), and \(PlanText.bytes(free)) are free in \(folder)"
            }
        }
        return room
    }

    /// Reckons with some bytes more, beside what runs and what the job itself fills already.
    private func add(_ size: Int64, at path: String, to room: inout Room, lack: (_ free: Int64) -> String) {
        guard let space = policy.space(path) else { return }
        let taken = (running.values.flatMap(\.fills) + room.fills).reduce(Int64(0)) { sum, fills in
            fills.fileSystem == space.fileSystem ? sum &+ fills.bytes : sum
        }
        room.fills.append(RunPolicy.FreeSpace(fileSystem: space.fileSystem, bytes: size))
        if taken &+ size > space.bytes { room.lack = room.lack ?? lack(space.bytes) }
    }

    /// What a job fills, and why it can't; an output that is up to date needs none.
    struct Room {
        var fills: [RunPolicy.FreeSpace]
        var lack: String?
    }

    /// What killed runs left where an output goes is removed, once a folder.
    func collectDeadParts(beside destination: String) {
        let (folder, _) = Self.split(destination)
        if cleaned.insert(folder.exact).inserted {
            _ = TemporaryFile.collectDeadParts(in: folder, of: namesByFolder[folder.exact] ?? [])
        }
    }

    /// A file that was not foretold, since the source is another than was thought, where another output goes.
    func takenName(of plan: JobPlan, beyond foretold: JobPlan) -> String? {
        let known = Set(foretold.outputs.flatMap(\.files).map(\.exact))
        return plan.outputs.flatMap(\.files).first { path in
            let (folder, name) = Self.split(path)
            return !known.contains(path.exact) && namesByFolder[folder.exact]?.contains(name) == true
        }
    }
}
