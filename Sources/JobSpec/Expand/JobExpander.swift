internal import Diagnostics
internal import Dispatch
internal import Glibc
internal import Locking
internal import Media
internal import YAMLDocument

/// Makes the runs of all jobs: each combination of a matrix, each match of a pattern, each output that another
/// job's runs publish. Jobs that read others' outputs come after those.
struct JobExpander {
    /// What patterns match. Nil while nothing is opened: such jobs stay templates.
    typealias Matches = (Located<String>) -> [String]?

    /// Most runs of all jobs of a file.
    static let limit = 200_000

    let definition: BatchDefinition
    let reader: NodeReader
    let matches: Matches?

    /// One run before it is decoded.
    private struct Run: Sendable {
        let base: Int
        let combination: Matrix.Combination
        /// What tells the run from the job's others, for its id.
        var label: [String]
        var asset: AssetSpec
        var assetID: Located<String>?
        var facts: AssetFacts
        var index = 0
        var isTemplate = false
    }

    /// All jobs in file order. What is wrong is in the reader's sink.
    func jobs() -> [JobSpec] {
        var outlines: [[Run]] = []
        outlines.reserveCapacity(definition.bases.count)
        var total = 0
        for index in definition.bases.indices {
            let runs = outline(index)
            total += runs.count
            guard total <= Self.limit else {
                reader.sink.error(
                    .fanOut, "the file comes to more than \(Self.limit) runs of jobs",
                    at: definition.bases[index].id.range)
                return []
            }
            outlines.append(runs)
        }
        let waits = outlines.map { runs in
            Set(
                runs.compactMap { run -> Int? in
                    if case .job(let id, _) = run.asset.source { definition.positions[id.value] } else { nil }
                })
        }
        var results = [[JobSpec]](repeating: [], count: outlines.count)
        let free = outlines.indices.filter { waits[$0].isEmpty }
        let decoded = Self.decode(free.flatMap { outlines[$0] }, definition: definition, into: reader)
        for job in decoded { if let job { results[definition.positions[job.base] ?? 0].append(job) } }
        for index in order(waits) where !waits[index].isEmpty {
            results[index] = read(outlines[index], results: results)
        }
        let jobs = results.flatMap { $0 }
        DependencyCheck(definition: definition, reader: reader).check(
            readings: outlines.map { runs in
                runs.compactMap { if case .job(let id, _) = $0.asset.source { id } else { nil } }
            }, jobs: jobs)
        return jobs
    }

    // MARK: Outlines

    private func outline(_ index: Int) -> [Run] {
        let base = definition.bases[index]
        guard case .mapping = base.node.content else {
            reader.sink.error(.wrongType, "a job is a mapping, not \(base.node.kind)", at: base.node.range)
            return []
        }
        guard
            let combinations = Matrix.combinations(
                base.node[key: "matrix"], scope: definition.scope, reader: reader)
        else { return [] }
        guard let asset = base.node[key: "asset"] else {
            // The missing key is reported with everything else that is wrong with the job.
            _ = JobDecoder(
                reader: reader, definition: definition, scope: Self.scope(definition, base.id.value, [], 1),
                asset: AssetSpec(source: .file(base.id), timing: .fast, range: base.id.range), assetID: nil,
                id: base.id, base: base.id.value, isTemplate: true
            ).job(base.node)
            return []
        }
        if combinations.count > 1, Int(base.node.size) * combinations.count > 5_000_000 {
            reader.sink.error(.fanOut, "the job and its matrix come to too much", at: base.id.range)
            return []
        }
        var runs: [Run] = []
        for combination in combinations {
            let label = combination.map { "\($0.key)=\($0.value.text)" }
            let scope = Self.scope(definition, base.id.value, combination, nil)
            let node = Substitution(scope: scope, reader: reader).apply(to: asset)
            guard let (spec, id) = binding(node, scope: scope) else { continue }
            if case .job(let needed, _) = spec.source, !definition.hasJob(needed, reader: reader) { continue }
            let run = Run(
                base: index, combination: combination, label: label, asset: spec, assetID: id,
                facts: facts(of: spec, id: id))
            runs += expand(run)
        }
        for position in runs.indices { runs[position].index = position + 1 }
        return runs
    }

    private static func scope(
        _ definition: BatchDefinition, _ job: String, _ combination: Matrix.Combination, _ index: Int?
    ) -> Scope {
        var scope = definition.scope
        scope.matrix = combination
        scope.job = job
        scope.index = index
        return scope
    }

    /// The asset that a job names or has in place.
    private func binding(_ node: YAMLNode, scope: Scope) -> (AssetSpec, Located<String>?)? {
        let decoder = AssetDecoder(reader: reader)
        guard node.text != nil else { return decoder.asset(node).map { ($0, nil) } }
        guard let text = reader.text(node, "`asset`") else { return nil }
        if NodeReader.isIdentifier(text.value) {
            guard let entry = definition.assets[text.value] else {
                let ids = definition.assets.keys.sorted()
                reader.sink.error(
                    .undefinedName, "there is no asset `\(text.value)`", at: text.range,
                    help: Suggestion.help(for: text.value, among: ids)
                        ?? (ids.isEmpty
                            ? "the file defines no assets; a path has a `/` or a `.`"
                            : "the assets are \(ids.joined(separator: ", "))"))
                return nil
            }
            let inner = Substitution(scope: definition.scope, reader: reader).apply(to: entry.value)
            return decoder.asset(inner).map { ($0, Located(entry.key, at: text.range)) }
        }
        if !text.value.contains("/"), !text.value.contains(".") {
            reader.sink.error(
                .invalidName,
                "`\(text.value)` is neither an asset's id nor a path (which has a `/` or a `.`)",
                at: text.range)
            return nil
        }
        return decoder.asset(node).map { ($0, nil) }
    }

    private func facts(of spec: AssetSpec, id: Located<String>?) -> AssetFacts {
        var facts = AssetFacts(id: id?.value)
        switch spec.source {
        case .file(let path): facts.path = shown(path)
        case .url(let url): facts.path = String(url.value.prefix { $0 != "?" && $0 != "#" })
        case .glob(let path):
            facts.path = shown(path)
            facts.isPattern = true
        case .pattern: facts.what = "a test signal"
        case .job: facts.what = "the job's output"
        }
        return facts
    }

    /// A path as the job file itself would write it.
    private func shown(_ path: Located<String>) -> String {
        let own = definition.folders[SourceFile(definition.path)]
        return definition.folders[path.range.source] == own ? path.value : definition.absolutePath(path)
    }

    /// A run for every match of its pattern.
    private func expand(_ run: Run) -> [Run] {
        guard case .glob(let pattern) = run.asset.source else { return [run] }
        guard let matches else {
            var template = run
            template.isTemplate = true
            return [template]
        }
        guard let paths = matches(pattern) else { return [] }
        let fixed = Self.fixedFolder(of: pattern.value)
        return paths.map { path in
            var copy = run
            let located = Located(path, at: pattern.range)
            copy.asset.source = .file(located)
            copy.facts.path = shown(located)
            copy.facts.isPattern = false
            copy.label.insert(String(decoding: path.utf8.dropFirst(fixed.utf8.count), as: UTF8.self), at: 0)
            return copy
        }
    }

    /// The part of a pattern before the first folder with a wildcard, with its `/`.
    static func fixedFolder(of pattern: String) -> String {
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
        let fixed = parts.dropLast().prefix { !GlobPattern.isPattern(String($0)) }
        return fixed.map { $0 + "/" }.joined()
    }

    // MARK: Decoding

    /// Decodes runs that wait for none, side by side where there are many.
    private static func decode(
        _ runs: [Run], definition: BatchDefinition, into reader: NodeReader
    ) -> [JobSpec?] {
        let share = max(64, (runs.count + threads * 4 - 1) / (threads * 4))
        let count = (runs.count + share - 1) / share
        guard count > 1 else { return runs.map { decode($0, definition: definition, reader: reader) } }
        let parts = Guarded<[Int: (jobs: [JobSpec?], sink: DiagnosticSink)]>([:])
        DispatchQueue.concurrentPerform(iterations: count) { @Sendable part in
            let own = NodeReader()
            let jobs = runs[(part * share)..<min(runs.count, (part + 1) * share)].map {
                decode($0, definition: definition, reader: own)
            }
            parts.withLock { $0[part] = (jobs, own.sink) }
        }
        return parts.withLock { done in
            (0..<count).flatMap { part -> [JobSpec?] in
                guard let (jobs, sink) = done[part] else { return [] }
                reader.sink.add(sink)
                return jobs
            }
        }
    }

    private static let threads = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private static func decode(_ run: Run, definition: BatchDefinition, reader: NodeReader) -> JobSpec? {
        let base = definition.bases[run.base]
        var scope = scope(definition, base.id.value, run.combination, run.index)
        scope.asset = run.facts
        let name =
            run.label.isEmpty ? base.id.value : "\(base.id.value)[\(run.label.joined(separator: ","))]"
        return JobDecoder(
            reader: reader, definition: definition, scope: scope, asset: run.asset, assetID: run.assetID,
            id: Located(name, at: base.id.range), base: base.id.value, isTemplate: run.isTemplate
        ).job(base.node)
    }

    /// The runs of a job that reads others' outputs: one for each of those.
    private func read(_ runs: [Run], results: [[JobSpec]]) -> [JobSpec] {
        var expanded: [Run] = []
        for run in runs {
            guard case .job(let id, _) = run.asset.source, let position = definition.positions[id.value]
            else {
                expanded.append(run)
                continue
            }
            for job in results[position] {
                var copy = run
                copy.asset.source = .job(id, run: job.id.value)
                copy.facts.path = job.destination.path.value
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

    /// Jobs after the ones they read. What is in a circle or behind one is left out: `DependencyCheck` reports it.
    private func order(_ waits: [Set<Int>]) -> [Int] {
        var readers = [[Int]](repeating: [], count: waits.count)
        var open = waits.map(\.count)
        for (index, needed) in waits.enumerated() { for job in needed { readers[job].append(index) } }
        var ready = waits.indices.filter { open[$0] == 0 }
        var next = 0
        while next < ready.count {
            for reader in readers[ready[next]] {
                open[reader] -= 1
                if open[reader] == 0 { ready.append(reader) }
            }
            next += 1
        }
        return ready
    }
}
