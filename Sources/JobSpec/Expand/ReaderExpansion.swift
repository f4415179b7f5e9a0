internal import Diagnostics
internal import ExactStrings

/// The expansion of jobs that read outputs of other jobs: one instance for each instance of the jobs that are
/// read.
struct ReaderExpansion {
    private let definition: BatchDefinition
    private let reader: NodeReader

    init(definition: BatchDefinition, reader: NodeReader) {
        (self.definition, self.reader) = (definition, reader)
    }

    /// Decodes the instances that read outputs of other jobs, after those jobs, and returns all jobs in file order.
    func jobs(_ waiting: [Int: [JobInstance]], after independent: [JobSpec]) -> [JobSpec] {
        let decoded = Dictionary(grouping: independent, by: \.base)
        var results = definition.bases.indices.map { index -> [JobSpec] in
            let id = definition.bases[index].id.value
            // Only one of several jobs with the same id, which are reported as duplicates.
            return definition.positions[id] == index ? decoded[id] ?? [] : []
        }
        let order = order(waiting)
        for index in order { results[index] = read(waiting[index] ?? [], results: results) }
        // The source of a job in a cycle can't be determined; its other keys are still validated.
        for index in Set(waiting.keys).subtracting(order).sorted() {
            for instance in waiting[index] ?? [] {
                UnresolvedJobCheck(definition: definition, reader: reader).check(
                    definition.bases[index], instance.combination, hasMatrix: true,
                    properties: instance.properties)
            }
        }
        return results.flatMap { $0 }
    }

    /// Expands a job that reads outputs of other jobs: one instance for each instance that it reads. Returns the
    /// decoded instances.
    private func read(_ instances: [JobInstance], results: [[JobSpec]]) -> [JobSpec] {
        guard let job = instances.first?.base else { return [] }
        var expanded = instances.flatMap { expansions(of: $0, results: results) }
        guard definition.allowsInstances(expanded.count, ofJob: job, reader: reader) else { return [] }
        for position in expanded.indices { expanded[position].index = position + 1 }
        return expanded.compactMap { $0.decoded(of: definition, reader: reader) }
    }

    /// Returns one job instance for each instance of the jobs that `instance` reads. At most one source of a
    /// composition may be a job with several instances.
    private func expansions(of instance: JobInstance, results: [[JobSpec]]) -> [JobInstance] {
        var instances = [instance]
        // Location of the pattern or of the job with several instances that already multiplies the instances.
        var several: SourceRange? = instance.asset.patterns?.range ?? instance.pattern
        for id in instance.readJobs {
            guard let position = definition.positions[id.value] else { continue }
            let read = results[position]
            if read.contains(where: { $0.isTemplate || $0.id.value != $0.base }) {
                if let first = several {
                    reader.sink.error(
                        .fanOut,
                        "a composition can't contain two jobs with several instances, or one beside a pattern or `paths`",
                        at: id.range, notes: [Diagnostic.Note("the first one is here", at: first)])
                    return []
                }
                several = id.range
            }
            let count = instances.count.multipliedReportingOverflow(by: read.count)
            guard
                definition.allowsNodes(
                    ofInstances: count.overflow ? Int.max : count.partialValue, ofJob: instance.base,
                    reader: reader)
            else { return [] }
            instances = instances.flatMap { instance -> [JobInstance] in
                var expanded: [JobInstance] = []
                for job in read {
                    guard let one = substituting(job, of: id, in: instance) else { break }
                    expanded.append(one)
                }
                return expanded
            }
        }
        return instances
    }

    /// Returns a copy of `instance` in which the output of `job` replaces the reference `id`; nil after an error is
    /// reported.
    private func substituting(
        _ job: JobSpec, of id: Located<String>, in instance: JobInstance
    ) -> JobInstance? {
        var path: String?
        func replaced(_ asset: AssetSpec) -> AssetSpec {
            guard case .job(let own, _, let named) = asset.source, own.value.exact == id.value.exact else {
                return asset
            }
            guard let output = output(named, of: job, readBy: own) else { return asset }
            path = path ?? output.destination?.path.value
            var asset = asset
            asset.source = .job(own, instance: job.id.value, output: named)
            return asset
        }
        let errors = reader.sink.errorCount
        var copy = instance
        let label = job.id.value.dropFirst(job.base.count)
        if case .composition(let spec) = instance.asset.source {
            copy.asset.source = .composition(spec.mapped(replaced))
            if job.isTemplate || !label.isEmpty { copy.properties.path = path }
        } else {
            copy.asset = replaced(instance.asset)
            copy.properties.path = path
        }
        guard reader.sink.errorCount == errors else { return nil }
        copy.properties.isPattern = copy.properties.isPattern || job.isTemplate
        copy.isTemplate = copy.isTemplate || job.isTemplate
        if !label.isEmpty { copy.label.insert(String(label.dropFirst().dropLast()), at: 0) }
        return copy
    }

    /// Returns the output that `id` refers to; nil after an error is reported. Errors are an unknown output, a missing
    /// `output` for a job with several, and an output that is not a media file.
    private func output(_ named: Located<String>?, of job: JobSpec, readBy id: Located<String>) -> OutputSpec?
    {
        if let output = job.output(named?.value) {
            if let division = output.division {
                reader.sink.error(
                    .notSupported,
                    "`\(job.base)` writes one file for each track of its source, which can't be read as an asset",
                    at: (named ?? id).range,
                    notes: [Diagnostic.Note("the destination is here", at: division.range)])
                return nil
            }
            guard let (problem, location) = output.kind.readingProblem else { return output }
            reader.sink.error(
                .notSupported, "`\(job.base)` produces \(problem)", at: (named ?? id).range,
                notes: [
                    Diagnostic.Note("\(output.isCheck ? "the check" : "the output") is here", at: location)
                ])
            return nil
        }
        let ids = job.outputs.compactMap(\.id?.value)
        if let named {
            reader.sink.error(
                .undefinedName, "the job `\(job.base)` has no output `\(named.value)`", at: named.range,
                help: ids.isEmpty
                    ? "use `asset: { job: \(job.base) }`, which has a single output"
                    : Suggestion.help(for: named.value, among: ids)
                        ?? "expected one of \(ids.joined(separator: ", "))")
        } else {
            reader.sink.error(
                .missingKey, "the job `\(job.base)` has several outputs, so `output` is required",
                at: id.range, help: "expected one of \(ids.joined(separator: ", "))")
        }
        return nil
    }

    /// Returns the waiting jobs in topological order, each after the jobs that it reads. Jobs that are in a cycle or
    /// depend on one are omitted; `DependencyCheck` reports the cycle.
    private func order(_ waiting: [Int: [JobInstance]]) -> [Int] {
        var readers: [Int: [Int]] = [:]
        var open: [Int: Int] = [:]
        var ready: [Int] = []
        for job in waiting.keys.sorted() {
            let needed = Set(
                (waiting[job] ?? []).flatMap(\.readJobs).compactMap { definition.positions[$0.value] }
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
