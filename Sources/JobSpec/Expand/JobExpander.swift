internal import Diagnostics
internal import ExactStrings
internal import Dispatch
internal import LibAV
internal import Locking
internal import Media
internal import YAMLDocument

/// The expansion of all jobs to instances: one for each combination of a matrix, each match of a pattern, and
/// each instance of a job that is read. Jobs that read outputs of other jobs are expanded after those.
struct JobExpander {
    /// Closure that returns the files of patterns; nil after an error, and if there are none. The closure is nil while no
    /// file may be opened; jobs with patterns then remain templates.
    typealias Matches = (FilePatterns) -> [FilePatterns.File]?

    let definition: BatchDefinition
    let reader: NodeReader
    let matches: Matches?

    /// A job instance before it is decoded.
    struct Instance: Sendable {
        let base: Int
        let combination: Matrix.Combination
        /// Values that distinguish the instance from others of its job. They are part of its id.
        var label: [String]
        var asset: AssetSpec
        var assetID: Located<String>?
        var properties: AssetProperties
        var index = 0
        var isTemplate = false
        /// Location of the pattern whose match the instance reads.
        var pattern: SourceRange?

        /// The jobs whose outputs the instance reads.
        var readJobs: [Located<String>] { asset.readJobs }
    }

    /// The instances of a range of jobs before decoding, in file order.
    private struct Outline {
        /// Instances of jobs that read no other job's output.
        var independent: [Instance] = []
        /// Instances of jobs that read outputs of others, by the job's index.
        var waiting: [Int: [Instance]] = [:]
        /// Index of the last job in the outline.
        var last = 0

        mutating func add(_ instances: [Instance], of job: Int) {
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
        let waiting: [Int: [Instance]]
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
        var waiting: [Int: [Instance]] = [:]
        for part in parts { waiting.merge(part.waiting) { first, _ in first } }
        let decoded = parts.flatMap(\.jobs)
        let jobs = waiting.isEmpty ? decoded : decode(waiting, after: decoded)
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
        let parts = Self.concurrently(count, into: partsReader) { range, reader in
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
        var outline = Outline()
        for job in jobs where total.withLock({ !$0.exceeds(definition.limits) }) {
            let instances = self.outline(job)
            total.withLock { $0.add(instances: instances.count, nodes: nodes(of: job)) }
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

    private func nodes(of job: Int) -> Int {
        ExpansionLimits.nodes(of: definition.bases[job].node)
    }

    /// Returns whether a number of instances of a job is within the limits, and reports an error if it isn't.
    func isWithinLimits(_ instances: Int, ofJob job: Int) -> Bool {
        let nodes = nodes(of: job)
        if ExpansionLimits.surplus(instances: instances, nodes: nodes) <= ExpansionLimits.surplusNodes {
            return true
        }
        reader.sink.error(
            .fanOut,
            "\(instances) job instances of \(nodes) values each are too many; at most \(ExpansionLimits.surplusNodes) values beyond the first \(ExpansionLimits.freeNodes) of each are allowed in total",
            at: definition.bases[job].id.range)
        return false
    }

    private func outline(_ index: Int) -> [Instance] {
        let base = definition.bases[index]
        guard case .mapping = base.node.content else {
            reader.sink.error(
                .wrongType, "a job must be a mapping, not \(base.node.kind)", at: base.node.range)
            return []
        }
        // The values of misspelt keys are checked as well; decoding reports the misspelling.
        let node = Self.respelled(base.node)
        guard
            let combinations = Matrix.combinations(
                node[key: "matrix"], limit: definition.limits.combinations, scope: definition.scope,
                reader: reader)
        else {
            reportOtherErrors(base, [], hasMatrix: false, properties: checkAsset(of: node, in: base))
            return []
        }
        guard let asset = node[key: "asset"] ?? node[key: "composition"] else {
            reportOtherErrors(base, combinations[0], hasMatrix: true)
            return []
        }
        if combinations.count > 1, !isWithinLimits(combinations.count, ofJob: index) { return [] }
        Matrix.reportUnusedKeys(of: node, in: definition, reader: reader)
        let isComposed = base.node[key: "asset"] == nil && node[key: "asset"] == nil
        var instances: [Instance] = []
        // An asset that is the same in all combinations is decoded once and shared.
        let isShared = combinations.count > 1 && !Substitution.dependsOnInstance(asset)
        var shared: (AssetSpec, Located<String>?)?
        var files: FileList?
        var isDecoded = false
        for combination in combinations {
            let label = combination.map { "\($0.key)=\(InstanceName.encoded($0.value.text))" }
            let scope = Self.scope(definition, base.id.value, combination, nil)
            if !isDecoded || !isShared {
                isDecoded = true
                files = nil
                let node = Substitution(scope: scope, reader: reader).apply(to: asset)
                shared =
                    isComposed
                    ? composition(node).map({ ($0, nil) }) : assets.asset(node)
            }
            guard let (spec, id) = shared else {
                reportOtherErrors(base, combination, hasMatrix: true)
                continue
            }
            // All ids are checked, so that each unknown one is reported.
            let isUnknown = spec.readJobs.map { definition.hasJob($0, reader: reader) }.contains(false)
            if isUnknown {
                reportOtherErrors(
                    base, combination, hasMatrix: true, properties: properties(of: spec, id: id))
                continue
            }
            let instance = Instance(
                base: index, combination: combination, label: label, asset: spec, assetID: id,
                properties: properties(of: spec, id: id))
            guard let expanded = expand(instance, besides: instances.count, &files) else { return [] }
            instances += expanded
        }
        for position in instances.indices { instances[position].index = position + 1 }
        return instances
    }

    static func respelled(_ node: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = node.content else { return node }
        return YAMLNode(.mapping(NodeReader.respelled(entries, as: Language.job)), at: node.range)
    }

    /// Reports other errors of a job whose asset or matrix is invalid: decodes it and discards the result.
    /// `isPartial`: the node is a part of a job, in which no key is required.
    func reportOtherErrors(
        _ base: BatchDefinition.JobNode, _ combination: Matrix.Combination, hasMatrix: Bool,
        properties: AssetProperties? = nil, isPartial: Bool = false
    ) {
        var scope = Self.scope(definition, base.id.value, combination, 1)
        let placeholder = AssetSpec(source: .file(base.id), timing: .fast, range: base.id.range)
        scope.asset = properties ?? AssetProperties.unknown
        scope.isMatrixUnknown = !hasMatrix
        _ = JobDecoder(
            reader: reader, definition: definition, scope: scope, asset: placeholder, assetID: nil,
            id: base.id, base: base.id.value, isTemplate: true, isPartial: isPartial
        ).job(base.node)
    }

    /// Reports errors of the asset or the composition of a job whose matrix is invalid, and returns the known
    /// properties of the asset.
    private func checkAsset(of node: YAMLNode, in base: BatchDefinition.JobNode) -> AssetProperties? {
        var scope = Self.scope(definition, base.id.value, [], nil)
        scope.isMatrixUnknown = true
        let substitution = Substitution(scope: scope, reader: reader)
        if let asset = node[key: "asset"] {
            let bound = assets.asset(substitution.apply(to: asset))
            for id in bound?.0.readJobs ?? [] { _ = definition.hasJob(id, reader: reader) }
            return bound.map { properties(of: $0.0, id: $0.1) }
        }
        guard let written = node[key: "composition"] else { return nil }
        let spec = composition(substitution.apply(to: written))
        for id in spec?.readJobs ?? [] { _ = definition.hasJob(id, reader: reader) }
        return spec.map { properties(of: $0, id: nil) }
    }

    static func scope(
        _ definition: BatchDefinition, _ job: String, _ combination: Matrix.Combination, _ index: Int?
    ) -> Scope {
        var scope = definition.scope
        scope.matrix = combination
        scope.job = job
        scope.index = index
        return scope
    }

    /// Resolves the asset of a job.
    var assets: AssetBinding { AssetBinding(reader: reader, definition: definition) }

    /// Decodes a composition into an asset.
    func composition(_ node: YAMLNode) -> AssetSpec? {
        CompositionDecoder(reader: reader) { assets.asset($0)?.0 }.composition(node).map {
            AssetSpec(source: .composition($0), timing: .fast, range: node.range)
        }
    }

    private func properties(of spec: AssetSpec, id: Located<String>?) -> AssetProperties {
        var properties = AssetProperties(id: id?.value)
        switch spec.source {
        case .file(let path), .playlist(let path): properties.path = displayPath(path)
        case .url(let url): properties.path = String(url.value.prefix { $0 != "?" && $0 != "#" })
        case .glob(let patterns): set(patterns, of: &properties)
        case .pattern: properties.what = "a test signal"
        case .images: properties.what = "an image sequence"
        case .composition(let spec):
            // Each instance uses one match of a clip's pattern.
            guard let patterns = spec.patterns else {
                properties.what = "a composition"
                break
            }
            set(patterns, of: &properties)
        case .composed: properties.what = "a composition"
        case .image(let path, _, _): properties.path = displayPath(path)
        case .job: properties.what = "the job's output"
        }
        return properties
    }

    /// Sets the properties of a source that is one of several files.
    private func set(_ patterns: FilePatterns, of properties: inout AssetProperties) {
        properties.isPattern = true
        let count = patterns.entries.reduce(0) { $0 + $1.expansions.count }
        // The properties of a long list are known once its files are.
        guard count <= Language.maxPatterns else {
            properties.alternatives = ["*/*.*"]
            return
        }
        properties.alternatives = patterns.entries.flatMap { entry in
            entry.expansions.map { displayPath(Located($0, at: entry.written.range)) }
        }
    }

    /// Returns a path as it is written if it is relative to the job file's folder; otherwise resolves it.
    private func displayPath(_ path: Located<String>) -> String {
        definition.folders[path.range.source] == definition.ownFolder
            ? path.value : definition.absolutePath(path)
    }

    /// The files of an asset that stands for several.
    private struct FileList {
        /// Nil after an error, and if there are none.
        let files: [FilePatterns.File]?
        let commonFolder: String
    }

    /// Returns one instance for each file of the instance's asset; nil after an error if they, together with `count`
    /// others, exceed the limits. `known` contains the files of the same asset once they are determined.
    private func expand(
        _ instance: Instance, besides count: Int, _ known: inout FileList?
    ) -> [Instance]? {
        var composed: CompositionSpec?
        let patterns: FilePatterns
        switch instance.asset.source {
        case .glob(let written): patterns = written
        case .composition(let spec):
            guard let written = spec.patterns else { return [instance] }
            (composed, patterns) = (spec, written)
        default: return [instance]
        }
        if known == nil {
            let listed = patterns.listed(absolutePath: definition.absolutePath)
            if listed == nil, matches == nil {
                var template = instance
                template.isTemplate = true
                return [template]
            }
            known = FileList(files: listed ?? matches?(patterns), commonFolder: patterns.commonFolder)
        }
        guard let folder = known?.commonFolder, let files = known?.files else { return [] }
        guard count + files.count <= definition.limits.instances else {
            reader.sink.error(
                .fanOut, "the job expands to more than \(definition.limits.instances) instances",
                at: definition.bases[instance.base].id.range)
            return nil
        }
        guard isWithinLimits(count + files.count, ofJob: instance.base) else { return nil }
        return files.map { file in
            var copy = instance
            let located = Located(file.path, at: patterns.entries[file.entry].written.range)
            copy.asset.source =
                composed.map { .composition($0.with(located, for: patterns)) } ?? .file(located)
            copy.properties.path = displayPath(located)
            copy.properties.isPattern = false
            copy.properties.alternatives = []
            copy.pattern = patterns.range
            // The name must distinguish the instance from all others of the job, because ids must be unique.
            let name =
                file.path.hasExactPrefix(folder)
                ? String(decoding: file.path.utf8.dropFirst(folder.utf8.count), as: UTF8.self) : file.path
            copy.label.insert(name, at: 0)
            return copy
        }
    }

    // MARK: Decoding

    /// Processes parts of a range on several threads, each with its own reader. Results and diagnostics are
    /// in the order of the range. `least` is the minimum size of a part that justifies another thread.
    private static func concurrently<Result: Sendable>(
        _ count: Int, least: Int = 64, into reader: NodeReader,
        _ body: @Sendable (Range<Int>, NodeReader) -> Result
    ) -> [Result] {
        // Parts are small, so that threads end at about the same time.
        let partSize = max(least, (count + threads * 16 - 1) / (threads * 16))
        let parts = (count + partSize - 1) / partSize
        guard parts > 1 else { return [body(0..<count, reader)] }
        let completed = Guarded<[Int: (result: Result, sink: DiagnosticSink)]>([:])
        let carried = WorkCount.Captured()
        DispatchQueue.concurrentPerform(iterations: parts) { @Sendable part in
            let partReader = NodeReader()
            let result = carried.run {
                body((part * partSize)..<min(count, (part + 1) * partSize), partReader)
            }
            completed.withLock { $0[part] = (result, partReader.sink) }
        }
        return completed.withLock { completed in
            (0..<parts).compactMap { part in
                guard let (result, sink) = completed[part] else { return nil }
                reader.sink.add(sink)
                return result
            }
        }
    }

    /// Decodes instances that read no other job's output, in parallel if there are enough.
    private func decode(_ instances: [Instance]) -> [JobSpec] {
        let definition = definition
        return Self.concurrently(instances.count, least: 512, into: reader) { range, reader in
            range.compactMap { Self.decode(instances[$0], definition: definition, reader: reader) }
        }.flatMap { $0 }
    }

    /// Decodes the instances that read outputs of other jobs, after those jobs, and returns all jobs in file order.
    private func decode(_ waiting: [Int: [Instance]], after independent: [JobSpec]) -> [JobSpec] {
        var results = [[JobSpec]](repeating: [], count: definition.bases.count)
        for job in independent { results[definition.positions[job.base] ?? 0].append(job) }
        let order = order(waiting)
        for index in order { results[index] = read(waiting[index] ?? [], results: results) }
        // The source of a job in a cycle can't be determined; its other keys are still validated.
        for index in Set(waiting.keys).subtracting(order).sorted() {
            for instance in waiting[index] ?? [] {
                reportOtherErrors(
                    definition.bases[index], instance.combination, hasMatrix: true,
                    properties: instance.properties)
            }
        }
        return results.flatMap { $0 }
    }

    private static let threads = Processors.current.available

    static func decode(
        _ instance: Instance, definition: BatchDefinition, reader: NodeReader,
        tracks: JobDecoder.Tracks? = nil
    ) -> JobSpec? {
        let base = definition.bases[instance.base]
        var scope = scope(definition, base.id.value, instance.combination, instance.index)
        scope.asset = instance.properties
        let name = InstanceName(base: base.id.value, label: instance.label)
        return JobDecoder(
            reader: reader, definition: definition, scope: scope, asset: instance.asset,
            assetID: instance.assetID,
            id: Located(name.description, at: base.id.range), base: base.id.value,
            isTemplate: instance.isTemplate, instance: instance, tracks: tracks
        ).job(base.node)
    }
}
