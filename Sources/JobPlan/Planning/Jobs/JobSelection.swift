internal import Diagnostics
internal import ExactStrings
internal import JobSpec

/// The selection of jobs of an invocation by name, with all jobs that they read or need.
struct JobSelection {
    let names: [String]
    /// The command-line argument that contains the names, for diagnostics.
    let argument: String
    /// Names of jobs in the files, including jobs without instances.
    var written: Set<String> = []

    /// Removes all jobs except those of a plan.
    static func keep(_ plan: BatchPlan, in files: inout [JobFile]) {
        let kept = Set(plan.jobs.map(\.key))
        for index in files.indices {
            let file = files[index]
            files[index].jobs = file.jobs.filter { kept.contains(file.key(of: $0)) }
        }
    }

    /// Returns a help text that lists instances of the job that `name` refers to, with or without an instance label
    /// (`[…]`); nil if the job has none.
    private func runs(of name: String, in files: [JobFile]) -> String? {
        let base = InstanceName(name).base
        let runs = files.flatMap(\.jobs).filter { $0.base == base && $0.base != $0.id.value }.map(\.id.value)
        guard !runs.isEmpty else { return nil }
        let shown = runs.prefix(3).map { "`\($0)`" }.joined(separator: ", ")
        return "\(counted(runs.count, "instance")) of `\(base)`: \(shown)" + (runs.count > 3 ? ", …" : "")
    }

    /// Returns a help text if `name` is the name of an output.
    private func job(ofOutput name: String, in files: [JobFile]) -> String? {
        // Outputs aren't divided yet.
        let wanted = OutputName(name).undivided
        for job in files.flatMap(\.jobs) {
            for output in job.outputs {
                guard let own = output.undividedName, own.exact == wanted.output?.exact,
                    job.id.value.exact == wanted.job.exact
                else { continue }
                return
                    "it is an output of the job `\(job.id.value)`; outputs of a job can't be selected individually"
            }
        }
        return nil
    }

    /// Removes all jobs except the selected ones and those that they read or need. A name that no job has is an
    /// error.
    func apply(to files: inout [JobFile], into sink: inout DiagnosticSink) {
        var known = Set(written.map(\.exact))
        for job in files.flatMap(\.jobs) { known.formUnion([job.base.exact, job.id.value.exact]) }
        for name in names where !known.contains(name.exact) {
            sink.error(
                .undefinedName, "unknown job `\(name)`", at: .argument(argument),
                help: job(ofOutput: name, in: files)
                    ?? Suggestion.help(for: name, among: known.sorted().map(\.text))
                    ?? runs(of: name, in: files))
        }
        let requested = Set(names.map(\.exact))
        for index in files.indices {
            let jobs = JobInstances(files[index].jobs)
            var kept: Set<ExactString> = []
            var open = files[index].jobs.filter {
                requested.contains($0.base.exact) || requested.contains($0.id.value.exact)
            }
            while let job = open.popLast() {
                guard kept.insert(job.id.value.exact).inserted else { continue }
                open += jobs.required(by: job).compactMap { jobs[$0] }
            }
            files[index].jobs.removeAll { !kept.contains($0.id.value.exact) }
        }
    }
}
