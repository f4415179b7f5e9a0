internal import Diagnostics

/// Jobs that read each other's outputs must not wait in a circle.
enum DependencyCheck {
    static func check(_ file: JobFile, into sink: inout DiagnosticSink) {
        let byID = Dictionary(file.jobs.map { ($0.id.value, $0) }, uniquingKeysWith: { first, _ in first })
        // Every job waits for at most one other, so a walk along that one finds a circle.
        var settled: Set<String> = []
        for start in file.jobs {
            var path: [String] = []
            var current: String? = start.id.value
            while let id = current, !settled.contains(id), let job = byID[id] {
                if let at = path.firstIndex(of: id) {
                    report(Array(path[at...]), byID, file, into: &sink)
                    break
                }
                path.append(id)
                current = file.dependency(of: job)?.value
            }
            settled.formUnion(path)
        }
    }

    private static func report(
        _ circle: [String], _ jobs: [String: JobSpec], _ file: JobFile, into sink: inout DiagnosticSink
    ) {
        guard let first = circle.first.flatMap({ jobs[$0] }) else { return }
        let names = (circle + [circle[0]]).joined(separator: " → ")
        let notes = circle.compactMap { id -> Diagnostic.Note? in
            guard let job = jobs[id], let needed = file.dependency(of: job) else { return nil }
            return Diagnostic.Note("`\(id)` reads what `\(needed.value)` publishes", at: needed.range)
        }
        sink.error(.dependencyCycle, "jobs wait for each other: \(names)", at: first.id.range, notes: notes)
    }
}

extension JobFile {
    /// The job whose output a job reads, and where that is said.
    public func dependency(of job: JobSpec) -> Located<String>? {
        guard case .job(let id)? = asset(of: job)?.source else { return nil }
        return id
    }

    /// The asset that a job reads, wherever it is defined.
    public func asset(of job: JobSpec) -> AssetSpec? {
        switch job.asset {
        case .inline(let spec): spec
        case .id(let id): assets.first { $0.id.value == id.value }?.asset
        }
    }
}
