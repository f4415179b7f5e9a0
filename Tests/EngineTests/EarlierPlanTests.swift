import Diagnostics
import Foundation
import JobPlan
import JobRun
import JobSpec
import TestSupport
import Testing

@testable import Engine

/// Plans that are read for a comparison: both formats, and what isn't a plan.
@Suite struct EarlierPlanTests {
    private static let yaml = """
        version: 1
        jobs:
          one:
            asset: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 1s }
            tracks: [ { video: first, encode: { codec: h264 } } ]
            destination: out/one.mp4
        """

    private func plan() throws -> BatchPlan {
        let (file, sink) = decode(Self.yaml)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, Self.yaml)) }
        return BatchPlanner.plan([file]).plan
    }

    private func file(of plan: BatchPlan) -> PlanFile {
        PlanFile(files: ["jobs.yaml"], specs: [], variables: [:], plan: plan)
    }

    private func problem(_ data: Data) -> EngineError? {
        #expect(throws: EngineError.self) { try EarlierPlan(data, name: "old.json") }
    }

    @Test func savedAndPrintedPlansAreRead() throws {
        let plan = try plan()
        let saved = try EarlierPlan(try file(of: plan).data(), name: "old.json")
        #expect(try PlanComparison(of: plan, since: saved.plan).isEmpty && saved.remarks.isEmpty)
        struct Printed: Encodable { let plan: BatchPlan }
        let printed = try EarlierPlan(try JSONFormat.data(of: Printed(plan: plan)), name: "old.json")
        #expect(try PlanComparison(of: plan, since: printed.plan).isEmpty)
    }

    @Test func plansOfOtherProgramsAreComparedWithARemark() throws {
        var file = file(of: try plan())
        file.program = "0.0.9"
        let earlier = try EarlierPlan(try file.data(), name: "old.json")
        #expect(
            earlier.remarks == [
                "the earlier plan: it was created by tandem 0.0.9, this is tandem \(ProgramVersion.current)"
            ])
    }

    @Test func plansOfAnotherFormatAreRejected() throws {
        var file = file(of: try plan())
        file.version = 2
        file.program = "9.0"
        let problem = problem(try file.data())
        #expect(problem?.status == .invalidSpec)
        #expect(
            problem?.message
                == "old.json is a plan of tandem 9.0 in a format that this version can't read; create it with tandem \(ProgramVersion.current)"
        )
    }

    @Test(arguments: ["", "{", "null", "[]", "{\"plan\": 1}", "{\"kind\": \"other\", \"plan\": {}}"])
    func otherFilesAreRejected(_ text: String) {
        let problem = problem(Data(text.utf8))
        #expect(problem?.status == .invalidSpec)
        #expect(
            problem?.message
                == "old.json is not a plan; `tandem plan --out FILE` and `tandem plan --format json` write one"
        )
    }

    /// A plan with any other number is read and compared, or rejected, in both formats.
    @Test func changedNumbersAreHarmless() throws {
        let plan = try plan()
        struct Printed: Encodable { let plan: BatchPlan }
        for data in [try file(of: plan).data(), try JSONFormat.data(of: Printed(plan: plan))] {
            let text = String(decoding: data, as: UTF8.self)
            var (read, rejected) = (0, 0)
            for match in text.matches(of: /: (-?\d+)/) {
                for value in ["-1", "9", "9223372036854775807"] {
                    let changed = text.replacingCharacters(
                        in: match.output.1.startIndex..<match.output.1.endIndex, with: value)
                    guard let earlier = try? EarlierPlan(Data(changed.utf8), name: "old.json") else {
                        rejected += 1
                        continue
                    }
                    let comparison = try PlanComparison(of: plan, since: earlier.plan)
                    #expect(!PlanComparisonText.render(comparison) { $0 }.isEmpty)
                    #expect(!PlanMarkdown.render(comparison) { $0 }.isEmpty)
                    read += 1
                }
            }
            #expect(read > 50 && rejected > 5)
        }
    }

    @Test func unreadableFilesAreRejected() throws {
        let scratch = try Scratch()
        for (path, reason) in [
            (scratch.path, "it is not a file; a plan in parts can't be compared"),
            (scratch.file("missing.json"), "No such file or directory"),
        ] {
            let error = #expect(throws: EngineError.self) { try EarlierPlan(reading: path) }
            #expect(error?.status == .invalidSpec)
            #expect(error?.message == "the plan \(path) can't be read: \(reason)")
        }
    }
}
