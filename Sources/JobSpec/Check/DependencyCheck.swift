internal import Diagnostics

/// Jobs that wait for each other, by what they read or by `needs`, must not do so in a circle.
struct DependencyCheck {
    let definition: BatchDefinition
    let reader: NodeReader

    private struct Edge {
        let to: Int
        let place: SourceRange
        let isReading: Bool
    }

    /// `readings` are the ids that jobs' runs read, by the jobs' positions.
    func check(readings: [Int: [Located<String>]], jobs: [JobSpec]) {
        var edges = [[Edge]](repeating: [], count: definition.bases.count)
        for (job, ids) in readings { edges[job] = ids.compactMap { edge(to: $0, isReading: true) } }
        for job in jobs where !job.needs.isEmpty {
            guard let position = definition.positions[job.base] else { continue }
            for need in job.needs {
                guard let edge = edge(to: need, isReading: false),
                    !edges[position].contains(where: { $0.to == edge.to })
                else { continue }
                edges[position].append(edge)
            }
        }
        walk(edges)
    }

    private func edge(to id: Located<String>, isReading: Bool) -> Edge? {
        definition.positions[id.value].map { Edge(to: $0, place: id.range, isReading: isReading) }
    }

    private func walk(_ edges: [[Edge]]) {
        // Depth first with a stack of its own: 0 is new, 1 is on the way, 2 is done.
        var state = [Int](repeating: 0, count: edges.count)
        for start in edges.indices where state[start] == 0 {
            var path: [(job: Int, next: Int)] = [(start, 0)]
            state[start] = 1
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
                    path.append((target, 0))
                } else if state[target] == 1, let from = path.firstIndex(where: { $0.job == target }) {
                    report(path[from...].map { edges[$0.job][$0.next - 1] }, from: target)
                }
            }
        }
    }

    private func report(_ circle: [Edge], from start: Int) {
        let jobs = [start] + circle.map(\.to)
        let names = jobs.map { definition.bases[$0].id.value }
        reader.sink.error(
            .dependencyCycle,
            "jobs wait for each other: \(names.prefix(20).joined(separator: " → "))\(names.count > 20 ? " …" : "")",
            at: definition.bases[start].id.range,
            notes: zip(names, circle).prefix(20).map { name, edge in
                let needed = definition.bases[edge.to].id.value
                return Diagnostic.Note(
                    edge.isReading
                        ? "`\(name)` reads what `\(needed)` publishes" : "`\(name)` needs `\(needed)`",
                    at: edge.place.with(context: nil))
            })
    }
}
