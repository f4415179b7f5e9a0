/// The smallest unit of a job's work that is started, cancelled and reported.
package enum WorkTask: Codable, Hashable, Sendable {
    /// Measures the loudness of a track for normalization, which decodes the whole track.
    case measure(output: Int, track: Int)
    /// Runs the first pass of an input's tracks that are encoded in two passes.
    case firstPass(input: Int)
    /// Creates the media outputs of an input, with a single read and decode.
    case encode(input: Int)
    /// Encodes outputs of an input that missed their target size again, with corrected bit rates.
    case correct(input: Int)
    /// Searches `crf` of the outputs of an input with a target quality, by encoding and measuring windows.
    case search(input: Int)
    /// Measures outputs of an input with a target quality, and encodes those that missed it again with a corrected `crf`.
    case refine(input: Int)
    /// Creates an image or waveform output, or reads the source of a check.
    case produce(output: Int)
    /// Reads a media output back, verifies it against the plan and evaluates its expectations.
    case verify(output: Int)
    /// Evaluates the expectations of an existing output.
    case evaluate(output: Int)

    /// Whether the task is of a type that usually takes most of a job's time.
    package var isLong: Bool {
        switch self {
        case .firstPass, .search, .encode, .correct, .refine, .produce: true
        case .measure, .verify, .evaluate: false
        }
    }
}

/// The tasks of a job and their dependencies. An executor makes no further decisions, whether tasks run sequentially or
/// concurrently, locally or remotely.
package struct WorkGraph: Hashable, Sendable {
    /// A task with its dependencies.
    package struct Node: Hashable, Sendable {
        package let task: WorkTask
        /// Indices of the tasks that must be done first, each less than this node's.
        package let needs: [Int]
    }

    /// Tasks, each after its dependencies.
    package private(set) var nodes: [Node] = []

    /// Adds a task and returns its index.
    mutating func add(_ task: WorkTask, after needs: [Int] = []) -> Int {
        nodes.append(Node(task: task, needs: needs))
        return nodes.count - 1
    }

    /// Returns the first task that isn't done and whose dependencies are done; nil if there is none.
    package func next(done: Set<Int>) -> Int? {
        nodes.indices.first { isReady($0, done: done) }
    }

    /// Returns the verifications of outputs that aren't done and whose dependencies are done.
    package func verifications(done: Set<Int>) -> [Int] {
        nodes.indices.filter { index in
            if case .verify = nodes[index].task { isReady(index, done: done) } else { false }
        }
    }

    private func isReady(_ index: Int, done: Set<Int>) -> Bool {
        !done.contains(index) && nodes[index].needs.allSatisfy(done.contains)
    }
}

extension JobPlan {
    /// Returns the indices of the outputs that a task works on.
    package func outputs(of task: WorkTask) -> [Int] {
        switch task {
        case .measure(let output, _), .produce(let output), .verify(let output), .evaluate(let output):
            [output]
        case .firstPass(let input), .search(let input), .encode(let input), .correct(let input),
            .refine(let input):
            outputs.indices.filter { outputs[$0].input == input && outputs[$0].kind.plan.isWrittenBySession }
        }
    }

    /// Returns the evaluations of existing outputs.
    package var evaluationGraph: WorkGraph { graph { .evaluate(output: $0) } }

    /// Returns the verifications of existing outputs.
    package var verificationGraph: WorkGraph { graph { .verify(output: $0) } }

    /// Returns a graph with an independent task for each output.
    private func graph(_ task: (_ output: Int) -> WorkTask) -> WorkGraph {
        var graph = WorkGraph()
        for index in outputs.indices { _ = graph.add(task(index)) }
        return graph
    }

    /// Returns the tasks of the job, from its sources to verified outputs.
    package func workGraph() -> WorkGraph {
        var graph = WorkGraph()
        for input in inputs.indices {
            let indices = outputs.indices.filter { outputs[$0].input == input }
            let mediaIndices = indices.filter { outputs[$0].kind.plan.isWrittenBySession }
            var needs: [Int] = []
            for index in mediaIndices {
                for (track, planned) in outputs[index].tracks.enumerated() {
                    guard case .encode(let encoding) = planned.action, encoding.loudness != nil else {
                        continue
                    }
                    needs.append(graph.add(.measure(output: index, track: track)))
                }
            }
            if mediaIndices.contains(where: { outputs[$0].hasTwoPasses }) {
                needs.append(graph.add(.firstPass(input: input)))
            }
            let hasQuality = mediaIndices.contains { outputs[$0].targetQuality != nil }
            if hasQuality { needs.append(graph.add(.search(input: input))) }
            if !mediaIndices.isEmpty {
                var encoded = graph.add(.encode(input: input), after: needs)
                if mediaIndices.contains(where: { outputs[$0].targetSize != nil }) {
                    encoded = graph.add(.correct(input: input), after: [encoded])
                }
                if hasQuality { encoded = graph.add(.refine(input: input), after: [encoded]) }
                for index in mediaIndices { _ = graph.add(.verify(output: index), after: [encoded]) }
            }
            // Images are found by seeking; decoding the few frames that they need isn't worth delaying a
            // media output.
            for index in indices where !outputs[index].kind.plan.isWrittenBySession {
                _ = graph.add(.produce(output: index))
            }
        }
        return graph
    }
}
