import Diagnostics
import JobSpec
import LibAV
import Media
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// The check for free space. Sizes are in bytes, and each output has its own job at its own location.
@Suite struct SpaceCheckTests {
    private func check(_ outputs: [(path: String?, size: Int64?)], on disk: FakeDisk) throws -> [String] {
        let lines = outputs.indices.map { "j\($0): { asset: a.mp4, destination: o\($0).mp4 }" }
        let yaml =
            "version: 1\ndefaults: { tracks: [ { video: first, copy: true } ] }\njobs:\n"
            + lines.map { "  \($0)\n" }.joined()
        let file = try #require(decode(yaml, directory: "/jobs").file)
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        let plans = zip(file.jobs, outputs).map { job, output in
            var plan = OutputPlan.media([], of: snippet)
            (plan.destination, plan.expectedSize) = (output.path, output.size)
            plan.destinationLocation = job.id.range
            return JobPlan(
                id: job.id.value, base: job.base, needs: [], file: file.path, location: job.id.range,
                inputs: [], outputs: [plan], scheduling: job.scheduling)
        }
        var table = DestinationTable(on: disk)
        let sink = SpaceCheck.warnings(plans, &table, on: disk)
        #expect(sink.diagnostics.allSatisfy { $0.severity == .warning && $0.rule == .lowSpace })
        return sink.diagnostics.map { "\($0.range.line - 4): \($0.message)" }
    }

    private static func disk(_ space: Int64?) -> FakeDisk {
        var disk = FakeDisk("/jobs/a.mp4")
        disk.space = space
        return disk
    }

    @Test(arguments: [(100, true), (101, true), (99, false), (0, false)] as [(Int64, Bool)])
    func outputs_needTheirSizesTogether(_ space: Int64, _ isEnough: Bool) throws {
        let found = try check([("/jobs/a", 60), ("/jobs/b", 40)], on: Self.disk(space))
        #expect(found.isEmpty == isEnough)
        #expect(
            found.allSatisfy { $0.hasPrefix("0: the estimated size of the outputs is 100 B") }, "\(found)")
    }

    /// Checks, and outputs whose sizes or folders are unknown, need nothing. Neither does unknown free space.
    @Test func unknownValues_areOmitted() throws {
        #expect(
            try check(
                [(nil, 60), ("/jobs/b", nil), ("/jobs/a.mp4/c", 60), ("/jobs/d", 40)], on: Self.disk(40))
                == [])
        #expect(try check([("/jobs/a", .max)], on: Self.disk(nil)) == [])
        #expect(try check([], on: Self.disk(0)) == [])
    }

    /// Each file system is compared alone. Warnings are in the order of the first destinations.
    @Test func fileSystems_areCompared() throws {
        var disk = FakeDisk("/jobs/a.mp4", folders: ["/big", "/small", "/unknown"])
        disk.space = 10
        disk.mounts = ["/big": (2, 1000), "/small": (3, 10), "/unknown": (4, nil)]
        let outputs: [(String?, Int64?)] = [
            ("/small/new/a", 6), ("/big/a", 900), ("/jobs/b", 11), ("/unknown/a", 1 << 40), ("/small/b", 6),
        ]
        #expect(
            try check(outputs, on: disk) == [
                "0: the estimated size of the outputs is 12 B, but only 10 B are free in /small",
                "2: the estimated size of the outputs is 11 B, but only 10 B are free in /jobs",
            ])
    }

    /// A sum of sizes that exceeds the largest number is still too large.
    @Test func sum_ofHugeSizes_isTooLarge() throws {
        let found = try check([("/jobs/a", .max), ("/jobs/b", .max), ("/jobs/c", 1)], on: Self.disk(1 << 40))
        #expect(found.count == 1, "\(found)")
    }
}
