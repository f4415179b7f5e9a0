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
    /// A performer that executes the work and keeps weak references to its handles.
    private final class Watcher: WorkPerformer {
        private struct Weak: Sendable {
            weak let handle: (any WorkHandle & AnyObject)?
        }
        private let works = Guarded<[Weak]>([])
        private let performer = LocalPerformer(MediaEnvironment())

        func perform(
            _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
        ) -> any WorkHandle {
            let handle = performer.perform(order, completion: completion)
            let kept = handle as AnyObject as? any WorkHandle & AnyObject
            works.withLock { $0.append(Weak(handle: kept)) }
            return handle
        }

        var begun: Int { works.withLock { $0.count } }
        var alive: Int { works.withLock { $0.count { $0.handle != nil } } }
    }

    @Test func workHandlesAreReleasedWithTheirJob() async throws {
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
