import Diagnostics
import Foundation
import JobPlan
import LibAV
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests a compromised worker that sends numbers at the limits of their types in every field of its messages. Messages
/// that pass the supervisor's validation are used for publishing and reports: nothing traps.
@Suite(.serialized) struct WorkerMessageTests {
    /// A performer that executes the work and alters its outcome.
    private struct AlteringPerformer: WorkPerformer {
        let round: Int
        private let own = LocalPerformer(MediaEnvironment())

        init(_ round: Int) { self.round = round }

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            let outcome = await own.perform(order)
            var generator = XorshiftGenerator(UInt64(round) + 1)
            let altered = alter(outcome, &generator) ?? outcome
            let checked = ReplyValidator.validated(
                altered, tracks: order.plan.outputs.map(\.tracks.count), makesPreview: order.makesPreview)
            return checked
                ?? .failed(
                    JobFailure(
                        "it sent an invalid outcome", at: order.plan.location, rule: .workerDied,
                        isTransient: false))
        }
    }

    @Test func malformedWorkerMessagesDontEndTheRun() async throws {
        let scratch = try folderWithSource()
        let yaml =
            "version: 1\njobs: { one: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: ffv1 } }, { audio: first, copy: true } ], expect: { frames: 13 }, destination: { path: o.mkv, if_exists: replace } } }"
        let (file, sink) = decode(yaml, directory: scratch.path)
        #expect(!sink.hasErrors)
        let plan = BatchPlanner.plan([try #require(file)])
        let rounds = (ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 120)
        for round in 0..<rounds {
            var policy = RunPolicy(budget: .ofThisMachine(jobs: 1))
            policy.maxPreviews = 1
            let runner = BatchRunner(
                plan: plan.plan, files: plan.files, policy: policy, performer: AlteringPerformer(round),
                prober: LocalProber(), observer: RecordingObserver())
            let records = await runner.run()
            let report = RunReport(records, files: ["jobs.yaml"], begun: 0, seconds: 1, status: .failed)
            _ = HTMLRenderer.render(report, previews: HTMLRenderer.previews(of: records))
            _ = JUnitRenderer.render(report)
            _ = StepSummary.render(report)
            _ = try report.json()
        }
    }

    /// Tests descriptions of sources with values that no file can contain: validation, planning and rendering cause no
    /// trap.
    @Test func malformedSourceDescriptionsCauseNoTrap() throws {
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
        var generator = XorshiftGenerator(23)
        let rounds = (ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 400)
        var accepted = 0
        for _ in 0..<rounds {
            guard let altered = alter(own, &generator), ReplyValidator.isValid(.description(altered)) else {
                continue
            }
            accepted += 1
            struct FixedProber: SourceProber {
                let environment = SourceEnvironment()
                let trials = SettingsValidationCache()
                let description: SourceDescription
                func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
                    if case .description = request.subject { return .description(description) }
                    if case .presentationTimes = request.subject { return .presentationTimes(true) }
                    if case .trial = request.subject { return .verdict(.valid) }
                    return .cut(nil)
                }
            }
            let result = BatchPlanner.plan(files, prober: FixedProber(description: altered))
            _ = PlanText.render(result.plan, reasons: { _ in RunReasons(lines: []) })
            _ = ProbeText.render(altered, name: "a")
            _ = rendered(result.diagnostics, "")
            for job in result.plan.jobs { _ = JobCost(job) }
        }
        #expect(accepted > rounds / 10, "too few descriptions passed the validation: \(accepted)")
    }
}

/// Returns the value with one or two of its JSON leaves replaced; nil if it can't be decoded.
private func alter<Value: Codable>(_ value: Value, _ generator: inout XorshiftGenerator) -> Value? {
    guard let data = try? JSONEncoder().encode(value),
        var tree = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    else { return nil }
    for _ in 0..<Int.random(in: 1...2, using: &generator) {
        var leaves = 0
        countLeaves(tree, &leaves)
        guard leaves > 0 else { return nil }
        var target = Int.random(in: 0..<leaves, using: &generator)
        tree = replaceLeaf(tree, &target, &generator)
    }
    guard let bytes = try? JSONSerialization.data(withJSONObject: tree, options: .fragmentsAllowed) else {
        return nil
    }
    return try? JSONDecoder().decode(Value.self, from: bytes)
}

private func countLeaves(_ node: Any, _ leaves: inout Int) {
    if let object = node as? [String: Any] {
        for key in object.keys.sorted() { object[key].map { countLeaves($0, &leaves) } }
    } else if let list = node as? [Any] {
        for item in list { countLeaves(item, &leaves) }
    } else {
        leaves += 1
    }
}

private func replaceLeaf(_ node: Any, _ target: inout Int, _ generator: inout XorshiftGenerator) -> Any {
    if var object = node as? [String: Any] {
        for key in object.keys.sorted() {
            object[key] = object[key].map { replaceLeaf($0, &target, &generator) }
        }
        return object
    }
    if let list = node as? [Any] { return list.map { replaceLeaf($0, &target, &generator) } }
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
        return texts.randomElement(using: &generator) ?? ""
    }
    let numbers: [NSNumber] = [
        0, 1, -1, NSNumber(value: Int64.max), NSNumber(value: Int64.min), NSNumber(value: Int64.max - 1),
        NSNumber(value: Int32.max), NSNumber(value: Int32.min), 1_048_576, NSNumber(value: 1e300),
        NSNumber(value: -1e300),
        NSNumber(value: 1e-300), NSNumber(value: 0.5), NSNumber(value: true), NSNumber(value: false),
    ]
    return numbers.randomElement(using: &generator) ?? 0
}
