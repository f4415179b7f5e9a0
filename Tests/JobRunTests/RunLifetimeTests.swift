import Diagnostics
import Foundation
import JobPlan
import JobRun
import Locking
import Media
import TestSupport
import Testing

/// Objects that a run creates for a job are released with it, so that a process with many runs doesn't grow.
@Suite struct RunLifetimeTests {
    /// A performer that executes the work and keeps weak references to the monitors of its orders. A work that isn't
    /// released keeps its monitor.
    private final class Watcher: WorkPerformer {
        private struct Weak: Sendable {
            weak let monitor: WorkMonitor?
        }
        private let works = Guarded<[Weak]>([])
        private let performer = LocalPerformer(MediaEnvironment())

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            works.withLock { $0.append(Weak(monitor: order.monitor)) }
            return await performer.perform(order)
        }

        var begun: Int { works.withLock { $0.count } }
        var alive: Int { works.withLock { $0.count { $0.monitor != nil } } }
    }

    @Test func workIsReleasedWithItsJob() async throws {
        let scratch = try Scratch()
        let signal = "{ pattern: testsrc, size: 64x48, frame_rate: 25, duration: 1s, tone: 440Hz }"
        let (file, sink) = decode(
            """
            version: 1
            defaults: { asset: \(signal) }
            jobs:
              movie: { tracks: [ { video: first, encode: { codec: h264 } }, { audio: first, encode: { codec: aac } } ], destination: a.mp4 }
              still: { images: { at: 0s }, destination: a.png }
              peaks: { waveform: { format: json }, destination: a.json }
              broken: { tracks: [ { video: first, encode: { codec: h264 } } ], expect: { frames: 7 }, destination: b.mp4 }
            """, directory: scratch.path)
        #expect(!sink.hasErrors)
        let plan = BatchPlanner.plan([try #require(file)])
        let watcher = Watcher()
        let runner = BatchRunner(
            plan: plan.plan, files: plan.files, performer: watcher, prober: LocalProber(),
            observer: RecordingObserver())
        let records = await runner.run()
        #expect(records.count == 4 && watcher.begun >= 3)
        // Dispatch queues release their objects slightly later.
        for _ in 0..<100 where watcher.alive > 0 { try await Task.sleep(for: .milliseconds(50)) }
        #expect(watcher.alive == 0)
    }
}
