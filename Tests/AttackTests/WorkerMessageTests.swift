import Diagnostics
import Foundation
import JobPlan
import LibAV
import Media
import TestSupport
import Testing

@testable import JobRun

/// A worker that a media file made its own, and says what it likes: numbers at the edges of their types in every place of
/// its messages. What passes the supervisor's check goes on to publishing and reports: no trap.
@Suite(.serialized) struct WorkerMessageTests {
    /// Does the work, and garbles what came of it.
    private struct Garbler: WorkPerformer {
        let round: Int
        private let own = LocalPerformer(MediaEnvironment())

        init(_ round: Int) { self.round = round }

        func perform(
            _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
        ) -> any WorkHandle {
            let round = round
            let tracks = order.plan.outputs.map(\.tracks.count)
            let makesPreview = order.makesPreview
            return own.perform(order) { @Sendable outcome in
                var dice = Dice(UInt64(round) + 1)
                let garbled = garble(outcome, &dice) ?? outcome
                let checked = ReplyValidator.checked(garbled, tracks: tracks, makesPreview: makesPreview)
                completion(
                    checked
                        ?? .failed(
                            JobFailure(
                                "it said what can't be", at: order.plan.location, rule: .workerDied,
                                isTransient: false)))
            }
        }
    }

    @Test func whatAWorkerSaysEndsNothing() async throws {
        let scratch = try folderWithSource()
        let yaml =
            "version: 1\njobs: { one: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, copy: true } ], expect: { frames: 13 }, destination: { path: o.mkv, if_exists: replace } } }"
        let (file, sink) = decode(yaml, directory: scratch.path)
        #expect(!sink.hasErrors)
        let plan = BatchPlanner.plan([try #require(file)])
        let rounds = (ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 120)
        for round in 0..<rounds {
            var policy = RunPolicy(budget: .ofThisMachine(jobs: 1))
            policy.previews = 1
            let runner = BatchRunner(
                plan: plan.plan, files: plan.files, policy: policy, performer: Garbler(round),
                prober: LocalProber(), observer: Recorder())
            let records = await runner.run()
            let report = RunReport(records, files: ["jobs.yaml"], begun: 0, seconds: 1, status: "x")
            _ = HTMLRenderer.render(report, previews: HTMLRenderer.previews(of: records))
            _ = JUnitRenderer.render(report)
            _ = StepSummary.render(report)
            _ = try report.json()
        }
    }

    /// The same of what it says of a source, beyond what a file can be: through the check, the plan and its text.
    @Test func whatAWorkerSaysOfASourceEndsNothing() throws {
        let scratch = try folderWithSource()
        let own = try LocalProber().description(of: scratch.file("a.mp4"))
        let (file, _) = decode(
            """
            version: 1
            jobs:
              a: { asset: ./a.mp4, range: { start: 10%, end: 80% }, tracks: [ { video: first, encode: { codec: h264, orientation: bake, size: 320x } }, { audio: first, encode: { codec: aac }, optional: true } ], destination: a.mp4 }
              b: { asset: ./a.mp4, tracks: [ { video: all, copy: true, optional: true }, { audio: all, copy: true, optional: true } ], limit: { size: 1MB }, destination: b.mkv }
              c: { asset: ./a.mp4, export: highest, destination: c.mp4 }
            """, directory: scratch.path)
        let files = [try #require(file)]
        var dice = Dice(23)
        let rounds = (ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 400)
        var taken = 0
        for _ in 0..<rounds {
            guard let told = garble(own, &dice), ReplyValidator.holds(.description(told)) else { continue }
            taken += 1
            struct Liar: SourceProber {
                let environment = SourceEnvironment()
                let trials = TrialCache()
                let description: SourceDescription
                func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
                    if case .description = question.matter { return .description(description) }
                    if case .presentationTimes = question.matter { return .presentationTimes(true) }
                    if case .trial = question.matter { return .verdict(.holds) }
                    return .cut(nil)
                }
            }
            let result = BatchPlanner.plan(files, prober: Liar(description: told))
            _ = PlanText.render(result.plan, reasons: { _ in RunReasons(lines: []) })
            _ = ProbeText.render(told, name: "a")
            _ = rendered(result.diagnostics, "")
            for job in result.plan.jobs { _ = JobCost(job) }
        }
        #expect(taken > rounds / 10, "hardly anything passed the check: \(taken)")
    }
}

/// A value with one or two of its leaves exchanged; nil where it is none any more.
private func garble<Value: Codable>(_ value: Value, _ dice: inout Dice) -> Value? {
    guard let data = try? JSONEncoder().encode(value),
        var tree = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    else { return nil }
    for _ in 0..<Int.random(in: 1...2, using: &dice) {
        var leaves = 0
        count(tree, &leaves)
        guard leaves > 0 else { return nil }
        var target = Int.random(in: 0..<leaves, using: &dice)
        tree = exchange(tree, &target, &dice)
    }
    guard let bytes = try? JSONSerialization.data(withJSONObject: tree, options: .fragmentsAllowed) else {
        return nil
    }
    return try? JSONDecoder().decode(Value.self, from: bytes)
}

private func count(_ node: Any, _ leaves: inout Int) {
    if let object = node as? [String: Any] {
        for key in object.keys.sorted() { object[key].map { count($0, &leaves) } }
    } else if let list = node as? [Any] {
        for item in list { count(item, &leaves) }
    } else {
        leaves += 1
    }
}

private func exchange(_ node: Any, _ target: inout Int, _ dice: inout Dice) -> Any {
    if var object = node as? [String: Any] {
        for key in object.keys.sorted() { object[key] = object[key].map { exchange($0, &target, &dice) } }
        return object
    }
    if let list = node as? [Any] { return list.map { exchange($0, &target, &dice) } }
    target -= 1
    guard target == -1 else { return node }
    if node is String {
        let texts = [
            "", "0/1", "-9223372036854775808/1", "9223372036854775807/1", "9223372036854775807/2147483647",
            "1/2147483647",
            "-1/1", "2147483647/1", "0/0", "1/0", "-2147483648/2147483647", "x\u{1b}", "64 channels",
            "0 channels",
            String(repeating: "a", count: 3000),
        ]
        return texts.randomElement(using: &dice) ?? ""
    }
    let numbers: [NSNumber] = [
        0, 1, -1, NSNumber(value: Int64.max), NSNumber(value: Int64.min), NSNumber(value: Int64.max - 1),
        NSNumber(value: Int32.max), NSNumber(value: Int32.min), 1_048_576, NSNumber(value: 1e300),
        NSNumber(value: -1e300),
        NSNumber(value: 1e-300), NSNumber(value: 0.5), NSNumber(value: true), NSNumber(value: false),
    ]
    return numbers.randomElement(using: &dice) ?? 0
}
