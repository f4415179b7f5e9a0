import JobSpec
import Streaming
import Testing

@testable import JobPlan
@testable import PlanWork

/// The decision which outputs of a plan are created, evaluated, or up to date, on records by value.
@Suite struct OutdatedOutputsTests {
    private let plan: JobPlan

    init() throws {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let input = InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent())
        let outputs = ["a", "b", "c"].map { id in
            var output = OutputPlan.media([.planned(.video())], of: snippet)
            (output.id, output.destination) = (id, "/\(id).mp4")
            return output
        }
        plan = JobPlan(
            id: "one", base: "one", needs: [], file: "jobs.yaml", location: snippet.job.id.range,
            inputs: [input], outputs: outputs, scheduling: snippet.job.scheduling)
    }

    private func outdated(_ plan: JobPlan, _ records: FakeRecords?) -> (create: [String], evaluate: [String])
    {
        let outdated = OutdatedOutputs(of: plan, sources: [], records: records, marksOutputs: true)
        #expect(outdated.isEmpty == (outdated.toCreate + outdated.toEvaluate.map(\.publisher)).isEmpty)
        return (outdated.toCreate.map(\.task.name), outdated.toEvaluate.map(\.publisher.task.name))
    }

    @Test func withoutRecords_allOutputsAreCreated() {
        #expect(outdated(plan, nil).create == ["one/a", "one/b", "one/c"])
        #expect(outdated(plan, nil).evaluate == [])
    }

    @Test func relation_determinesTheTreatment() throws {
        let digest = try PlanDigest(plan.tasks[0])
        let records = FakeRecords(relations: [
            "one/a": (digest, .current), "one/b": (digest, .unevaluated), "one/c": (digest, .other),
        ])
        let outdated = outdated(plan, records)
        #expect(outdated.create == ["one/c"] && outdated.evaluate == ["one/b"])
        // Only the output that is up to date is recorded.
        #expect(records.recorded == ["adopted one/a", "succeeded one/a", "whole one/a"])
    }

    @Test func currentOutputs_areNotOutdated() throws {
        let digest = try PlanDigest(plan.tasks[0])
        let records = FakeRecords(
            relations: Dictionary(
                uniqueKeysWithValues: plan.tasks.map { task in (task.name, (digest, .current)) }))
        #expect(OutdatedOutputs(of: plan, sources: [], records: records, marksOutputs: true).isEmpty)
    }

    /// A package no longer contains the files that were evaluated.
    @Test func package_isCreatedAgainForNewExpectations() throws {
        var plan = plan
        plan.outputs[0].kind = .package(
            PackagePlan(
                formats: [.hls], files: .many, container: .mp4, segment: s(4), variants: [],
                hasKeyframePlaylists: false, renditions: [], location: plan.location))
        let digest = try PlanDigest(self.plan.tasks[0])
        let records = FakeRecords(relations: ["one/a": (digest, .unevaluated)])
        #expect(outdated(plan, records).create.first == "one/a")
    }
}
