import Diagnostics
import FileSystem
import Foundation
import JobPlan
import LibAV
import Locking
import Media
import Publishing
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests which work remains if outputs are taken from a cache. Each run has its own folder, as a fresh checkout has.
@Suite struct CachingPerformerTests {
    /// A performer that records the orders it receives, and may answer them itself.
    private final class Recorder: WorkPerformer {
        private let script: @Sendable (WorkOrder) -> WorkOutcome?
        private let orders = Guarded<[String]>([])
        private let base = LocalPerformer(MediaEnvironment())

        init(_ script: @escaping @Sendable (WorkOrder) -> WorkOutcome?) { self.script = script }

        /// The orders so far, such as `create hd, sd`.
        var recorded: [String] { orders.withLock { $0 } }

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            let word =
                switch order.task {
                case .create: "create"
                case .evaluate: "evaluate"
                case .verify: "verify"
                }
            let names = order.plan.outputs.map { $0.id ?? "out" }.joined(separator: ", ")
            orders.withLock { $0.append("\(word) \(names)") }
            if let outcome = script(order) { return outcome }
            return await base.perform(order)
        }
    }

    private let cacheFolder: Scratch

    init() throws { cacheFolder = try Scratch() }

    private struct Ended {
        var orders: [String]
        var record: JobRecord
        var tally: ContentCache.Tally
        var scratch: Scratch

        var isFromCache: Bool { record.outcome.isFromCache }
        var failure: JobFailure? { if case .failed(let failure) = record.outcome { failure } else { nil } }
    }

    private let audio =
        "asset: { pattern: smpte, duration: 1s, tone: 1kHz }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: out.mka"
    private let two =
        "asset: { pattern: smpte, size: 64x48, duration: 1s, tone: 1kHz }, outputs: { a: { tracks: [ { audio: first, encode: { codec: flac } } ], destination: a.mka }, b: { tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: b.wav } }"

    /// Runs a job in a new folder.
    private func run(
        _ job: String, _ mode: ContentCache.Mode = .readWrite, isForced: Bool = false,
        in folder: Scratch? = nil,
        _ script: @escaping @Sendable (WorkOrder) -> WorkOutcome? = { _ in nil }
    ) async throws -> Ended {
        let scratch = try folder ?? Scratch()
        let (file, sink) = decode("version: 1\njobs:\n  j: { \(job) }\n", directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")])
        let state = RunState(isForced: isForced, environment: SourceEnvironment())
        let cache = try ContentCache(path: cacheFolder.path, mode: mode, limit: 1 << 30)
        let recorder = Recorder(script)
        let runner = BatchRunner(
            plan: result.plan, files: result.files, state: state,
            performer: CachingPerformer(recorder, cache: cache, state: state), prober: LocalProber(),
            observer: RecordingObserver())
        let records = await runner.run()
        return Ended(
            orders: recorder.recorded, record: try #require(records.first), tally: cache.tally,
            scratch: scratch)
    }

    private var entries: [String] { cacheFolder.contents.filter { $0.split(separator: "/").count == 3 } }

    @Test func storedOutput_isOnlyVerified() async throws {
        let first = try await run(audio)
        #expect(first.orders == ["create out"] && !first.isFromCache)
        #expect(first.tally == ContentCache.Tally(stored: 1))
        let second = try await run(audio)
        #expect(second.orders == ["verify out"] && second.isFromCache)
        #expect(second.tally == ContentCache.Tally(used: 1))
        let files = try [first, second].map {
            try Data(contentsOf: URL(filePath: $0.scratch.file("out.mka")))
        }
        #expect(files[0] == files[1])
    }

    @Test func missingOutputOfAJob_isTheOnlyOneCreated() async throws {
        _ = try await run(two)
        let stored = entries
        #expect(stored.count == 2)
        try FileManager.default.removeItem(atPath: cacheFolder.file(stored[0]))
        let second = try await run(two)
        #expect(second.orders.count == 2 && second.orders[0].hasPrefix("verify "))
        #expect(
            second.orders[1].hasPrefix("create ") && second.orders[0].suffix(1) != second.orders[1].suffix(1))
        guard case .succeeded(let result) = second.record.outcome else {
            Issue.record("\(second.record.outcome)")
            return
        }
        #expect(result.outputs.map(\.id) == ["a", "b"] && !second.isFromCache)
        #expect(result.outputs.count(where: \.isFromCache) == 1)
        #expect(entries == stored)
    }

    @Test func changedRecipe_isCreated() async throws {
        _ = try await run(audio)
        let second = try await run(
            audio.replacing("codec: flac", with: "codec: flac, options: { compression_level: 3 }"))
        #expect(second.orders == ["create out"] && entries.count == 2)
    }

    @Test func forcedRun_createsAndStoresAgain() async throws {
        _ = try await run(audio)
        let second = try await run(audio, isForced: true)
        #expect(second.orders == ["create out"])
        #expect(second.tally == ContentCache.Tally(stored: 1) && entries.count == 1)
    }

    @Test func read_createsWithoutStoring() async throws {
        let first = try await run(audio, .read)
        #expect(first.orders == ["create out"] && first.tally == ContentCache.Tally() && entries.isEmpty)
    }

    /// An entry with valid digests that isn't the output which the plan describes.
    @Test func outputThatFailsItsVerification_isCreated() async throws {
        let first = try await run(audio)
        let second = try await run(audio) { order in
            guard case .verify = order.task else { return nil }
            return .failed(JobFailure("output track 0 is video", at: order.plan.location))
        }
        #expect(second.orders == ["verify out", "create out"] && !second.isFromCache)
        #expect(second.tally == ContentCache.Tally(stored: 1, refused: 1))
        #expect(second.scratch.contents == first.scratch.contents)
    }

    /// An output that ends the worker which verifies it.
    @Test func workerThatDies_isReplacedByANewOutput() async throws {
        _ = try await run(audio)
        let second = try await run(audio) { order in
            guard case .verify = order.task else { return nil }
            return .failed(JobFailure("the worker died", at: order.plan.location, isTransient: true))
        }
        #expect(second.orders == ["verify out", "create out"] && second.record.outcome.isSuccess)
        #expect(second.tally == ContentCache.Tally(stored: 1, refused: 1))
    }

    /// New expectations of the same output are evaluated on the copy, without creating it again.
    @Test func expectations_areEvaluatedOnTheCopy() async throws {
        _ = try await run(audio)
        let met = try await run(audio + ", expect: { size: { max: 1MB } }")
        #expect(met.orders == ["verify out"] && met.isFromCache)
        guard case .succeeded(let result) = met.record.outcome else {
            Issue.record("\(met.record.outcome)")
            return
        }
        #expect(result.outputs[0].expectations.count == 1)
        let unmet = try await run(audio + ", expect: { size: { max: 10 } }")
        #expect(unmet.orders == ["verify out"])
        #expect(unmet.failure?.rule == .expectationFailed && unmet.scratch.contents.isEmpty)
        // The entry of the other job remains.
        #expect(entries.count == 1 && unmet.tally.refused == 0)
    }

    /// The index of a sheet names the sheet's file.
    @Test func sheetsWithAnIndex_haveTheNameInTheirKey() async throws {
        func sheet(_ name: String, _ index: String = ", index: vtt") -> String {
            "asset: { pattern: smpte, size: 64x48, duration: 1s }, images: { count: 2, sheet: { columns: 2\(index) } }, destination: \(name).jpg"
        }
        _ = try await run(sheet("one"))
        let other = try await run(sheet("two"))
        #expect(other.orders == ["create out"] && !other.isFromCache)
        let again = try await run(sheet("two"))
        #expect(again.isFromCache && again.orders.isEmpty)
        let text = try String(contentsOfFile: again.scratch.file("two.vtt"), encoding: .utf8)
        #expect(text.contains("two.jpg#xywh=") && !text.contains("one.jpg"))
        _ = try await run(sheet("three", ""))
        #expect(try await run(sheet("four", "")).isFromCache)
    }

    @Test func outputThatFailsItsExpectations_isNotStored() async throws {
        let first = try await run(audio + ", expect: { size: { max: 10 } }")
        #expect(first.failure?.rule == .expectationFailed, "\(first.record.outcome)")
        #expect(first.tally == ContentCache.Tally())
    }

    @Test func copiesChecksAndSmartCuts_areNotKept() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "flac", scratch.file("a.flac"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=2:r=25:s=64x48", "-f", "lavfi", "-i", "sine=duration=2", "-c:v",
            "libx264", "-pix_fmt", "yuv420p", "-g", "10", "-c:a", "aac", scratch.file("a.mp4"))
        for job in [
            "asset: ./a.flac, tracks: [ { audio: first, copy: true } ], destination: out.mka",
            "asset: ./a.flac, check: true",
            "asset: ./a.mp4, cut: smart, range: { start: 0.5s }, tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: aac } } ], destination: out.mp4",
        ] {
            let ended = try await run(job, in: scratch)
            #expect(ended.record.outcome.isSuccess, "\(job): \(ended.record.outcome)")
            #expect(ended.tally == ContentCache.Tally(), "\(job)")
        }
        #expect(entries.isEmpty)
    }

    /// A source that changes while its output is created must not be stored under the digest of its earlier bytes.
    @Test func sourceThatChanges_isNotStored() async throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "flac", scratch.file("a.flac"))
        let job =
            "asset: ./a.flac, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: out.wav"
        let path = scratch.file("a.flac")
        let ended = try await run(job, in: scratch) { _ in
            utimes(path, nil)
            return nil
        }
        #expect(ended.failure?.rule == .sourceUnreadable && ended.tally == ContentCache.Tally())
        #expect(entries.isEmpty)
    }

    /// `onChecked` ends the job's timeout: before the output is stored, and not after a copy that isn't used.
    @Test func timeout_endsOnceTheOutputIsCreated() async throws {
        let scratch = try Scratch()
        let (file, _) = decode("version: 1\njobs:\n  j: { \(audio) }\n", directory: scratch.path)
        let jobs = BatchPlanner.plan([try #require(file)]).plan.jobs
        let plan = try #require(jobs.first)
        let state = RunState(isForced: false, environment: SourceEnvironment())
        let cache = try ContentCache(path: cacheFolder.path, mode: .readWrite, limit: 1 << 30)
        let recorder = Recorder { order in
            guard case .verify = order.task else { return nil }
            order.onChecked(WorkFindings(outputs: []))
            return .failed(JobFailure("other", at: order.plan.location))
        }
        for expected in [0, 1] {
            let output = try TemporaryFile(destination: scratch.file("out.mka"), in: .anywhere)
            var order = WorkOrder(plan: plan, outputs: [output], scratch: nil)
            let seen = Guarded<[Int]>([])
            order.onChecked = { findings in
                #expect(findings.outputs.count == 1)
                seen.withLock { $0.append(cache.tally.stored) }
            }
            let outcome = await CachingPerformer(recorder, cache: cache, state: state).perform(order)
            guard case .finished = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(seen.withLock { $0 } == [expected] && cache.tally.stored == expected + 1)
        }
        #expect(recorder.recorded == ["create out", "verify out", "create out"])
    }

    @Test func cancelled_storesNothing() async throws {
        let ended = try await run(audio) { _ in .cancelled }
        #expect(ended.tally == ContentCache.Tally() && ended.scratch.contents.isEmpty)
    }
}
