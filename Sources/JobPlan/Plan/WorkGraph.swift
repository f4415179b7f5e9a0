/// The least of a job's work that is begun, cancelled and told of by itself.
package enum WorkTask: Codable, Hashable, Sendable {
    /// Finds how loud a track is that is to be brought to a loudness: all of it is decoded.
    case measure(output: Int, track: Int)
    /// Looks at the tracks of an input that take two passes.
    case firstPass(input: Int)
    /// Makes the movies of an input, by one read and one decode.
    case encode(input: Int)
    /// Makes an output that is no movie.
    case make(output: Int)
    /// Reads a movie back: is it what was planned, and what was expected?
    case verify(output: Int)
    /// Holds an output that is there against what is expected of it.
    case judge(output: Int)

    /// Media go through it from a source to a file: the others are short beside it.
    package var isLong: Bool {
        switch self {
        case .firstPass, .encode, .make: true
        case .measure, .verify, .judge: false
        }
    }
}

/// The tasks of a job and which of them each one needs (swift-driver's jobs): who carries it out decides nothing anew, whether it does
/// one after the other or several at a time, here or elsewhere. A chunk of an output and what joins chunks are further tasks of the kind.
package struct WorkGraph: Hashable, Sendable {
    /// One task.
    package struct Node: Hashable, Sendable {
        /// What is to be done.
        package let task: WorkTask
        /// The places of those that must be done before: each less than its own.
        package let needs: [Int]
    }

    /// The tasks, each behind those that it needs.
    package private(set) var nodes: [Node] = []

    /// Adds a task, and tells its place.
    mutating func add(_ task: WorkTask, after needs: [Int] = []) -> Int {
        nodes.append(Node(task: task, needs: needs))
        return nodes.count - 1
    }

    /// The first task that is not done, and whose needs are; nil where there is none.
    package func next(done: Set<Int>) -> Int? {
        nodes.indices.first { !done.contains($0) && nodes[$0].needs.allSatisfy(done.contains) }
    }
}

extension JobPlan {
    /// What is done for the job, from its sources to outputs that are checked. `onlyJudges`: they are there already.
    package func workGraph(onlyJudges: Bool = false) -> WorkGraph {
        var graph = WorkGraph()
        if onlyJudges {
            for index in outputs.indices { _ = graph.add(.judge(output: index)) }
            return graph
        }
        for input in inputs.indices {
            let made = outputs.indices.filter { outputs[$0].input == input }
            let movies = made.filter { outputs[$0].isMedia }
            var needs: [Int] = []
            for index in movies {
                for (track, planned) in outputs[index].tracks.enumerated() {
                    guard case .encode(let encoding) = planned.action, encoding.loudness != nil else {
                        continue
                    }
                    needs.append(graph.add(.measure(output: index, track: track)))
                }
            }
            if movies.contains(where: { outputs[$0].hasTwoPasses }) {
                needs.append(graph.add(.firstPass(input: input)))
            }
            if !movies.isEmpty {
                let encoded = graph.add(.encode(input: input), after: needs)
                for index in movies { _ = graph.add(.verify(output: index), after: [encoded]) }
            }
            // Stills are found by seeking, and the few frames that they need are not worth holding a movie back for.
            for index in made where !outputs[index].isMedia { _ = graph.add(.make(output: index)) }
        }
        return graph
    }
}
