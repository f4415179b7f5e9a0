internal import Diagnostics
internal import YAMLDocument

/// Detection of circular dependencies between jobs: through sources that read another job's output, and through
/// `needs`.
struct DependencyCheck {
    let definition: BatchDefinition
    let reader: NodeReader

    /// Maximum number of reported cycles: a single job may be part of many.
    private static let maxReportedCycles = 100

    private struct Edge {
        let to: Int
        let location: SourceRange
        let isReading: Bool
    }

    /// Reports circular dependencies. `readings` maps the index of a job to the ids of the jobs whose outputs it reads.
    func check(readings: [Int: [Located<String>]], jobs: [JobSpec]) {
        var edges = [[Edge]](repeating: [], count: definition.bases.count)
        for (job, ids) in readings { edges[job] = ids.compactMap { edge(to: $0, isReading: true) } }
        var needs: [Int: [Located<String>]] = [:]
        var read: Set<Int> = []
        for job in jobs {
            guard let position = definition.positions[job.base] else { continue }
            read.insert(position)
            if !job.needs.isEmpty { needs[position, default: []] += job.needs }
        }
        for position in edges.indices where !read.contains(position) {
            let dependencies = self.declaredDependencies(in: definition.bases[position])
            if !dependencies.needs.isEmpty { needs[position] = dependencies.needs }
            guard edges[position].isEmpty, let source = dependencies.source else { continue }
            edges[position] = [edge(to: source, isReading: true)].compactMap { $0 }
        }
        for (position, ids) in needs {
            var known = Set(edges[position].map(\.to))
            WorkCount.add(ids.count)
            for need in ids {
                guard let edge = edge(to: need, isReading: false), known.insert(edge.to).inserted
                else { continue }
                edges[position].append(edge)
            }
        }
        findCycles(edges)
    }

    /// Returns the dependencies of a job that couldn't be decoded, read directly from its nodes: the ids in `needs`,
    /// and the job whose output is its source.
    private func declaredDependencies(
        in job: BatchDefinition.JobNode
    ) -> (needs: [Located<String>], source: Located<String>?) {
        let node = NodeReader.respelled(job.node, as: Language.job)
        var scope = definition.scope(ofJob: job.id.value)
        scope.isMatrixUnknown = true
        let silentReader = NodeReader()
        func value(_ node: YAMLNode) -> YAMLNode {
            Substitution(scope: scope, reader: silentReader).apply(to: node)
        }
        let needs = node[key: "needs"].map {
            silentReader.list(value($0)).compactMap { silentReader.text($0, "") }
        }
        let asset = node[key: "asset"].map(value)
        let entry = asset?.text.flatMap { definition.assets[$0] }?.value ?? asset
        return (needs ?? [], entry?[key: "job"].flatMap { silentReader.text(value($0), "") })
    }

    private func edge(to id: Located<String>, isReading: Bool) -> Edge? {
        definition.positions[id.value].map { Edge(to: $0, location: id.range, isReading: isReading) }
    }

    private func findCycles(_ edges: [[Edge]]) {
        // Depth-first search with an explicit stack. States: 0 is new, 1 is on the path, 2 is done.
        var state = [Int](repeating: 0, count: edges.count)
        var pathPositions = [Int](repeating: 0, count: edges.count)
        var cycleCount = 0
        for start in edges.indices where state[start] == 0 {
            var path: [(job: Int, next: Int)] = [(start, 0)]
            state[start] = 1
            pathPositions[start] = 0
            while let (job, next) = path.last {
                guard next < edges[job].count else {
                    state[job] = 2
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let target = edges[job][next].to
                if state[target] == 0 {
                    state[target] = 1
                    pathPositions[target] = path.count
                    path.append((target, 0))
                } else if state[target] == 1, cycleCount < Self.maxReportedCycles {
                    cycleCount += 1
                    report(
                        path[pathPositions[target]...].prefix(21).map { edges[$0.job][$0.next - 1] },
                        from: target)
                }
            }
        }
    }

    private func report(_ cycle: [Edge], from start: Int) {
        let jobs = [start] + cycle.map(\.to)
        let names = jobs.map { definition.bases[$0].id.value }
        reader.sink.error(
            .dependencyCycle,
            "circular dependency: \(names.prefix(20).joined(separator: " → "))\(names.count > 20 ? " …" : "")",
            at: definition.bases[start].id.range,
            notes: zip(names, cycle).prefix(20).map { name, edge in
                let needed = definition.bases[edge.to].id.value
                return Diagnostic.Note(
                    edge.isReading
                        ? "`\(name)` reads an output of `\(needed)`" : "`\(name)` needs `\(needed)`",
                    at: edge.location.with(context: nil))
            })
    }
}
