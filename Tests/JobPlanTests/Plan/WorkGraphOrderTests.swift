import Media
import Testing

@testable import JobPlan

/// The order of tasks, of graphs and plans that exist only in memory.
@Suite struct WorkGraphOrderTests {
    /// Returns the encoding of a video track.
    private func video(_ change: (inout TrackPlan.Encoding) -> Void = { _ in }) -> TrackPlan {
        .planned(.video(), .encoded(.video(), as: "h264", by: "libx264", change))
    }

    /// Returns each task with its dependencies by their indices.
    private func lines(_ graph: WorkGraph) -> [String] {
        graph.nodes.map { "\($0.task) after \($0.needs)" }
    }

    /// Returns the graph of four tasks, of which 2 requires 0 and 1, and 3 requires 2.
    private func diamond() -> (graph: WorkGraph, indices: [Int]) {
        var graph = WorkGraph()
        let indices = [
            graph.add(.search(input: 0)), graph.add(.produce(output: 1)),
            graph.add(.encode(input: 0), after: [0, 1]), graph.add(.verify(output: 0), after: [2]),
        ]
        return (graph, indices)
    }

    @Test func addedTasks_areNumberedInOrder() {
        let (graph, indices) = diamond()
        #expect(indices == [0, 1, 2, 3])
        #expect(graph.nodes.map(\.needs) == [[], [], [0, 1], [2]])
    }

    /// A task is next if all of its dependencies are done, also if they were done in another order.
    @Test(
        arguments: [
            ([], 0), ([0], 1), ([1], 0), ([0, 1], 2), ([0, 1, 2], 3), ([0, 1, 2, 3], nil), ([0, 2], 1),
            ([3], 0), ([0, 1, 3], 2),
        ] as [(Set<Int>, Int?)])
    func next_isTheFirstTaskThatCanStart(_ done: Set<Int>, _ expected: Int?) {
        #expect(diamond().graph.next(done: done) == expected)
    }

    /// Verifications of outputs that are written are concurrent; those of another input wait for its encode.
    @Test func verifications_areThoseThatCanStart() {
        var graph = WorkGraph()
        for input in 0..<2 {
            let encode = graph.add(.encode(input: input))
            _ = graph.add(.verify(output: 2 * input), after: [encode])
            _ = graph.add(.verify(output: 2 * input + 1), after: [encode])
        }
        #expect(graph.verifications(done: []) == [])
        #expect(graph.verifications(done: [0]) == [1, 2])
        #expect(graph.verifications(done: [0, 1, 3]) == [2, 4, 5])
    }

    @Test func graphWithoutTasks_hasNoNextTask() throws {
        #expect(WorkGraph().next(done: []) == nil)
        let plan = try JobPlan.planned()
        #expect(plan.workGraph().nodes == [] && plan.verificationGraph.nodes == [])
    }

    /// Analyses precede the encode, corrections follow it, and each output is verified after the last of them.
    @Test func stages_areInOrder() throws {
        let quality = try TargetQuality.planned()
        let demanding = video {
            ($0.hasTwoPasses, $0.targetSize, $0.targetQuality) = (true, .planned, quality)
        }
        let loud = TrackPlan.planned(
            .audio(), .encoded(.audio(), as: "aac", by: "aac") { $0.loudness = LoudnessTarget() })
        let plan = try JobPlan.planned(outputs: [.planned(demanding, loud), .planned(.planned(.video()))])
        #expect(
            lines(plan.workGraph()) == [
                "measure(output: 0, track: 1) after []", "firstPass(input: 0) after []",
                "search(input: 0) after []", "encode(input: 0) after [0, 1, 2]",
                "correct(input: 0) after [3]", "refine(input: 0) after [4]", "verify(output: 0) after [5]",
                "verify(output: 1) after [5]",
            ])
    }

    /// An analysis of one input doesn't delay the tasks of another.
    @Test func inputs_areIndependent() throws {
        let plan = try JobPlan.planned(
            reads: ["a", "b"],
            outputs: [
                .planned(.planned(.video()), from: 1), .planned(video { $0.hasTwoPasses = true }),
                .planned(.planned(.video()), from: 1),
            ])
        #expect(
            lines(plan.workGraph()) == [
                "firstPass(input: 0) after []", "encode(input: 0) after [0]", "verify(output: 1) after [1]",
                "encode(input: 1) after []", "verify(output: 0) after [3]", "verify(output: 2) after [3]",
            ])
    }

    /// Outputs that aren't written by a session are tasks of their own, even if nothing else reads the input.
    @Test func otherKinds_waitForNothing() throws {
        let check = OutputPlan.planned(.planned(.video(), .read(decodes: true)), as: .decodingCheck)
        #expect(lines(try JobPlan.planned(outputs: [check]).workGraph()) == ["produce(output: 0) after []"])
        let both = try JobPlan.planned(outputs: [check, .planned(video { $0.hasTwoPasses = true })])
        #expect(
            lines(both.workGraph()) == [
                "firstPass(input: 0) after []", "encode(input: 0) after [0]", "verify(output: 1) after [1]",
                "produce(output: 0) after []",
            ])
    }

    @Test func tasksOfAnInput_workOnItsMediaOutputs() throws {
        let check = OutputPlan.planned(.planned(.video(), .read(decodes: true)), as: .decodingCheck)
        let plan = try JobPlan.planned(
            reads: ["a", "b"],
            outputs: [check, .planned(video()), .planned(video(), from: 1), .planned(video())])
        let tasks: [WorkTask] = [
            .firstPass(input: 0), .search(input: 0), .encode(input: 0), .correct(input: 0),
            .refine(input: 0),
        ]
        for task in tasks { #expect(plan.outputs(of: task) == [1, 3], "\(task)") }
        #expect(plan.outputs(of: .encode(input: 1)) == [2] && plan.outputs(of: .encode(input: 2)) == [])
        #expect(plan.outputs(of: .produce(output: 0)) == [0])
        #expect(plan.outputs(of: .measure(output: 3, track: 1)) == [3])
    }
}
