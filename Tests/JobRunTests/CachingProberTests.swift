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

/// Tests which probes are taken from a cache: those that decode frames, of sources with the same bytes.
@Suite struct CachingProberTests {
    private final class CountingProber: SourceProber {
        private let base = LocalProber()
        private let requests = Guarded(0)

        var environment: SourceEnvironment { base.environment }
        var trials: SettingsValidationCache { base.trials }
        /// Number of requests so far.
        var count: Int { requests.withLock { $0 } }

        func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
            requests.withLock { $0 += 1 }
            return try base.respond(to: request)
        }
    }

    /// A source of several scenes of 0.4 s, which differ by their color.
    private static func scenes(_ count: Int) -> String {
        let colors = ["black", "white", "red", "blue"].prefix(count)
        return colors.enumerated().map { "color=\($1):d=0.4:r=25:s=64x48[v\($0)]" }.joined(separator: ";")
            + ";" + colors.indices.map { "[v\($0)]" }.joined() + "concat=n=\(count)"
    }

    private let scratch: Scratch
    private let base = CountingProber()

    init() throws {
        scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", Self.scenes(4), "-c:v", "libx264", scratch.file("a.mp4"))
        try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("b.mp4"))
        try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("b.mkv"))
    }

    /// Returns a prober of a new run.
    private func prober(isForced: Bool = false) throws -> CachingProber {
        CachingProber(
            base, cache: try ContentCache(path: scratch.file("cache"), mode: .readWrite, limit: 1 << 30),
            state: RunState(isForced: isForced, environment: SourceEnvironment()))
    }

    private func request(
        _ name: String, _ subject: ProbeRequest.Subject = .scenes(track: 0, difference: 100, limit: 100)
    )
        -> ProbeRequest
    {
        ProbeRequest(path: scratch.file(name), subject: subject)
    }

    private var entries: [String] {
        scratch.contents.filter { $0.hasPrefix("cache/v1/") && $0.split(separator: "/").count == 4 }
            .map { scratch.file($0) }
    }

    private func times(_ response: ProbeResponse) -> [MediaTime]? {
        if case .keyFrames(let times) = response { times } else { nil }
    }

    @Test func equalSources_areProbedOnce() throws {
        let first = times(try prober().respond(to: request("a.mp4")))
        let second = times(try prober().respond(to: request("b.mp4")))
        #expect(first?.count == 3 && first == second && base.count == 1)
        // Another request, another ending of the name, and a forced run.
        _ = try prober().respond(to: request("a.mp4", .scenes(track: 0, difference: 200, limit: 100)))
        _ = try prober().respond(to: request("b.mkv"))
        _ = try prober(isForced: true).respond(to: request("a.mp4"))
        #expect(base.count == 4 && entries.count == 3)
    }

    @Test func changedSource_isProbedAgain() throws {
        let prober = try prober()
        _ = try prober.respond(to: request("a.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", Self.scenes(2), "-c:v", "libx264", scratch.file("a.mp4"))
        #expect(times(try prober.respond(to: request("a.mp4")))?.count == 1 && base.count == 2)
    }

    /// Without a cache, the state has the results of earlier runs, also of measured loudness.
    @Test func laterRun_takesProbesFromTheState() throws {
        try ffmpeg("-f", "lavfi", "-i", "sine=440:d=1", scratch.file("a.wav"))
        let query = ProbeRequest.LoudnessQuery(track: 0)
        func blocks(isForced: Bool = false, isReading: Bool = false) throws -> LoudnessBlocks? {
            let state = try RunState(
                files: [scratch.file("jobs.yaml")], folder: nil, environment: SourceEnvironment(), specs: [:],
                isForced: isForced, isReading: isReading)
            let response = try CachingProber(base, cache: nil, state: state).respond(
                to: request("a.wav", .loudness(query)))
            guard case .loudness(let blocks) = response else { return nil }
            return blocks
        }
        let first = try #require(try blocks())
        #expect(first.integrated != nil && base.count == 1)
        #expect(try blocks() == first && base.count == 1)
        #expect(try blocks(isForced: true) == first && base.count == 2)
        try ffmpeg("-f", "lavfi", "-i", "sine=440:d=2", scratch.file("a.wav"))
        // `tandem plan` takes results from the state, and records none.
        #expect(try blocks(isReading: true) != first && base.count == 3)
        #expect(try blocks() != first && base.count == 4)
        #expect(try blocks(isReading: true) != first && base.count == 4)
    }

    /// Other requests read a source as fast as its digest is computed.
    @Test func requestsThatDecodeNothing_areNotKept() throws {
        _ = try prober().respond(to: request("a.mp4", .description(.precise)))
        #expect(entries.isEmpty)
        #expect(throws: SourceProblem.self) { try prober().respond(to: request("none.mp4")) }
        #expect(entries.isEmpty && base.count == 2)
    }

    /// Entries of the right key whose response isn't one to the request, or has values out of range.
    @Test(arguments: ["byteCount", "limit", "order"]) func unsuitableResponse_isReplaced(_ kind: String)
        throws
    {
        let request = request("a.mp4", .scenes(track: 0, difference: 100, limit: 5))
        let digest = try #require(
            SourceContents(SourceEnvironment()).digest(of: scratch.file("a.mp4"), in: []))
        let key = try #require(CacheKey(request, content: digest))
        let cache = try ContentCache(path: scratch.file("cache"), mode: .readWrite, limit: 1 << 30)
        let seconds = { (value: Int64) in MediaTime(value: value, timescale: 1) }
        let response: ProbeResponse =
            switch kind {
            case "byteCount": .byteCount(7)
            case "limit": .keyFrames((0..<6).map { seconds($0) })
            default: .keyFrames([seconds(2), seconds(1)])
            }
        cache.store(key, response)
        #expect(times(try prober().respond(to: request))?.count == 3 && base.count == 1)
        #expect(times(try prober().respond(to: request))?.count == 3 && base.count == 1)
    }

    /// An entry that is an output isn't the result of a probe, and the reverse.
    @Test func entriesOfOtherKinds_areNotUsed() throws {
        let key = try #require(CacheKey(String(repeating: "ab", count: 32)))
        let cache = try ContentCache(path: scratch.file("cache"), mode: .readWrite, limit: 1 << 30)
        cache.store(key, ProbeResponse.byteCount(7))
        let file = try TemporaryFile(destination: scratch.file("output"), in: .anywhere)
        #expect(cache.fetch(key, into: file, isCancelled: { false }) == nil)
        #expect(cache.tally.refused == 1 && entries.isEmpty)
    }
}
