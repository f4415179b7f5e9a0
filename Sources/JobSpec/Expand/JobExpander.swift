internal import Diagnostics
internal import ExactStrings
internal import Locking

/// The expansion of all jobs to instances: one for each combination of a matrix, each match of a pattern, and
/// each instance of a job that is read. Jobs that read outputs of other jobs are expanded after those.
struct JobExpander {
    private let definition: BatchDefinition
    private let reader: NodeReader
    private let matches: PatternExpansion.Matches?

    /// The instances of a range of jobs before decoding, in file order.
    private struct Outline {
        /// Instances of jobs that read no other job's output.
        var independent: [JobInstance] = []
        /// Instances of jobs that read outputs of others, by the job's index.
        var waiting: [Int: [JobInstance]] = [:]
        /// Index of the last job in the outline.
        var last = 0

        mutating func add(_ instances: [JobInstance], of job: Int) {
            last = job
            if instances.contains(where: { !$0.readJobs.isEmpty }) {
                waiting[job] = instances
            } else {
                independent += instances
            }
        }
    }

    /// The decoded and the waiting instances of a part of the file's jobs.
    private struct DecodedPart: Sendable {
        /// Decoded jobs that read no other job's output.
        let jobs: [JobSpec]
        /// Instances of jobs that read outputs of others, by the job's index.
        let waiting: [Int: [JobInstance]]
        /// Whether instances are templates, also of jobs that can't be decoded while their source is unknown.
        var hasTemplates = false
        /// Location of the first instance that couldn't be decoded although its source is known; nil for none.
        var undecoded: SourceRange?

        init(_ outline: Outline, jobs: [JobSpec], of definition: BatchDefinition) {
            (self.jobs, waiting) = (jobs, outline.waiting)
            hasTemplates =
                outline.independent.contains(where: \.isTemplate)
                || waiting.values.contains { $0.contains(where: \.isTemplate) }
            let expected = outline.independent.count { !$0.isTemplate }
            guard jobs.count(where: { !$0.isTemplate }) < expected else { return }
            let known = outline.independent.filter { !$0.isTemplate }
            let decoded = Set(jobs.map(\.base.exact))
            let lost =
                known.first { !decoded.contains(definition.bases[$0.base].id.value.exact) } ?? known.first
            undecoded = lost.map { definition.bases[$0.base].id.range }
        }
    }

    /// The jobs of a file after expansion.
    struct Expansion {
        /// All jobs in file order.
        var jobs: [JobSpec] = []
        /// Whether jobs have patterns whose matches are unknown.
        var hasTemplates = false
    }

    init(definition: BatchDefinition, reader: NodeReader, matches: PatternExpansion.Matches?) {
        (self.definition, self.reader, self.matches) = (definition, reader, matches)
    }

    /// Returns all jobs. Errors are reported in the reader's sink.
    func expansion() -> Expansion {
        guard let parts = decodedParts() else { return Expansion() }
        let expansion = Expansion(jobs: jobs(of: parts), hasTemplates: parts.contains(where: \.hasTemplates))
        // No job is lost without a message.
        if !reader.sink.hasErrors, let location = parts.lazy.compactMap(\.undecoded).first {
            reader.sink.error(.invalidValue, "a value of the job is unknown", at: location)
        }
        return expansion
    }

    private func jobs(of parts: [DecodedPart]) -> [JobSpec] {
        var waiting: [Int: [JobInstance]] = [:]
        for part in parts { waiting.merge(part.waiting) { first, _ in first } }
        let decoded = parts.flatMap(\.jobs)
        let jobs =
            waiting.isEmpty
            ? decoded : ReaderExpansion(definition: definition, reader: reader).jobs(waiting, after: decoded)
        DependencyCheck(definition: definition, reader: reader).check(
            readings: waiting.mapValues { $0.flatMap(\.readJobs) }, jobs: jobs)
        return named(jobs)
    }

    /// Removes and reports jobs with a duplicate id. Ids must be unique because later stages look instances up by id.
    private func named(_ jobs: [JobSpec]) -> [JobSpec] {
        var seen: Set<ExactString> = []
        return jobs.filter { job in
            if seen.insert(job.id.value.exact).inserted { return true }
            reader.sink.error(
                .duplicateKey, "two instances of the job `\(job.base)` have the id `\(job.id.value)`",
                at: job.id.range)
            return false
        }
    }

    /// Outlines and decodes all jobs, in parallel unless patterns are expanded; nil after an error if they exceed the
    /// limits.
    private func decodedParts() -> [DecodedPart]? {
        let definition = definition
        let count = definition.bases.count
        let total = Guarded(ExpansionLimits.Count())
        guard matches == nil else {
            let outline = outline(of: 0..<count, total)
            if total.withLock({ $0.exceeds(definition.limits) }) {
                return reportTooManyInstances(at: outline.last, total.withLock { $0 })
            }
            return [DecodedPart(outline, jobs: decode(outline.independent), of: definition)]
        }
        let partsReader = NodeReader()
        let parts = PartedWork(count: count).results(into: partsReader) { range, reader in
            let expander = JobExpander(definition: definition, reader: reader, matches: nil)
            let outline = expander.outline(of: range, total)
            let exceedsLimits = total.withLock { $0.exceeds(definition.limits) }
            return DecodedPart(
                outline, jobs: exceedsLimits ? [] : expander.decode(outline.independent), of: definition)
        }
        // The job that exceeds the limit is determined sequentially; the diagnostics of the parallel parts depend on
        // timing and are discarded.
        if total.withLock({ $0.exceeds(definition.limits) }) {
            let total = Guarded(ExpansionLimits.Count())
            let last = outline(of: 0..<count, total).last
            return reportTooManyInstances(at: last, total.withLock { $0 })
        }
        reader.sink.add(partsReader.sink)
        return parts
    }

    /// Outlines jobs until all instances, counted in `total`, exceed the limits.
    private func outline(of jobs: Range<Int>, _ total: borrowing Guarded<ExpansionLimits.Count>) -> Outline {
        let matrices = MatrixExpansion(definition: definition, reader: reader, matches: matches)
        var outline = Outline()
        for job in jobs where total.withLock({ !$0.exceeds(definition.limits) }) {
            let instances = matrices.instances(ofJob: job)
            total.withLock { $0.add(instances: instances.count, nodes: definition.nodeCount(ofJob: job)) }
            outline.add(instances, of: job)
        }
        return outline
    }

    private func reportTooManyInstances(at job: Int, _ count: ExpansionLimits.Count) -> [DecodedPart]? {
        let what =
            count.instances > definition.limits.instances
            ? "\(definition.limits.instances) job instances"
            : "\(ExpansionLimits.surplusNodes) values in job instances that have more than \(ExpansionLimits.freeNodes) each"
        reader.sink.error(
            .fanOut, "the file expands to more than \(what)", at: definition.bases[job].id.range)
        return nil
    }

    /// Decodes instances that read no other job's output, in parallel if there are enough.
    private func decode(_ instances: [JobInstance]) -> [JobSpec] {
        let definition = definition
        return PartedWork(count: instances.count, minPartSize: 512).results(into: reader) { range, reader in
            range.compactMap { instances[$0].decoded(of: definition, reader: reader) }
        }.flatMap { $0 }
    }
}
