import Diagnostics
import JobPlan
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Disk space of jobs that run at the same time.
@Suite struct SpaceReservationsTests {
    /// Returns two jobs; each writes 1 s of 48 kHz mono in 16 bits, and the second one to two file systems.
    private func jobs() throws -> [JobPlan] {
        let (file, sink) = decode(
            """
            version: 1
            jobs:
              one: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: /a/one.wav }
              two:
                asset: { pattern: smpte, duration: 1s, tone: 1kHz }
                outputs:
                  near: { tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: /a/two.wav }
                  far: { tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: /b/two.wav }
            """, directory: "/nowhere")
        return BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan.jobs
    }

    private func reservations(a: Int64, b: Int64) -> SpaceReservations {
        var policy = RunPolicy(budget: ResourceBudget(cores: 1, memory: 1))
        policy.freeSpace = { path in
            path.hasPrefix("/a/")
                ? RunPolicy.FreeSpace(fileSystem: 1, bytes: a) : RunPolicy.FreeSpace(fileSystem: 2, bytes: b)
        }
        return SpaceReservations(policy)
    }

    @Test func reservedSpaceIsNotAvailableToOthers() throws {
        let jobs = try jobs()
        let (one, two) = (try #require(jobs.first), try #require(jobs.last))
        let size = try #require(one.outputs.first?.expectedSize)
        var space = reservations(a: size * 3 / 2, b: size)
        let first = space.estimate(for: one) { _ in false }
        #expect(first.shortage == nil && first.usage.map(\.bytes) == [size])
        #expect(space.estimate(for: two) { _ in false }.usage.map(\.fileSystem) == [1, 2])
        #expect(space.estimate(for: two) { _ in false }.shortage == nil)
        space.reserve(first.usage, for: one.key)
        let shortage = try #require(space.estimate(for: two) { _ in false }.shortage)
        #expect(shortage.contains("are free at /a/two.wav"))
        space.release(one.key)
        #expect(space.estimate(for: two) { _ in false }.shortage == nil)
    }

    @Test func outputsThatAreUpToDateNeedNoSpace() throws {
        let two = try #require(try jobs().last)
        let size = try #require(two.outputs.first?.expectedSize)
        let space = reservations(a: size, b: 0)
        #expect(space.estimate(for: two) { _ in false }.shortage != nil)
        let estimate = space.estimate(for: two) { $0.output.destination == "/b/two.wav" }
        #expect(estimate.shortage == nil && estimate.usage.map(\.fileSystem) == [1])
        // They are identified only if space is short.
        let ample = reservations(a: size, b: size)
        #expect(
            ample.estimate(for: two) { _ in
                Issue.record("identified without need"); return false
            }.shortage == nil)
    }
}
