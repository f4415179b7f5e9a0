import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The parts of a batch that encode chunks of long tracks.
@Suite struct ChunkDistributionTests {
    /// Returns a job with a track of 25 frames per second in chunks of 100 frames, and an audio track.
    private func job(
        _ id: String, seconds: Int = 1000, isDistributed: Bool = true, needs: [String] = [],
        reads: [String] = []
    ) throws -> JobPlan {
        let video = TrackDescription.video()
        var track = TrackPlan.planned(
            video,
            .encoded(video, as: "h264", by: "libx264") { encoding in
                encoding.encoder.chunk = 100
                encoding.chunkFiles = isDistributed ? [] : nil
            })
        track.expected.frames = seconds * 25
        track.expected.timeRange = TimeRange(start: .zero, end: s(Double(seconds)))
        return try .planned(
            id, needs: needs, reads: reads,
            outputs: [.planned(.planned(.audio()), track, lasting: Double(seconds))])
    }

    private func distribution(
        _ jobs: JobPlan..., minWork: Double, maxParts: Int = 100, creating: (JobPlan) -> Bool = { _ in true }
    ) -> ChunkDistribution {
        ChunkDistribution(
            of: BatchPlan(jobs: jobs, refusals: []), minWork: minWork, maxParts: maxParts, creating: creating)
    }

    /// Returns the work of encoding all chunks of a job.
    private func work(_ job: JobPlan) throws -> Double {
        let whole = ChunkPart(
            file: job.file, id: job.id, output: 0, track: 1, name: "0", chunks: ChunksPlan(first: 0, end: nil)
        )
        return JobCost(try #require(job.chunkJob(whole, in: "/"))).work
    }

    /// All parts of a track have the same work, with reading the source up to their chunks. The last part has all to the end,
    /// since the number of frames is expected.
    @Test func partsHaveEqualWork() throws {
        let job = try job("film")
        let parts = distribution(job, minWork: try work(job) / 2.9).parts
        #expect(
            parts.map(\.chunks) == [
                ChunksPlan(first: 0, end: 92), ChunksPlan(first: 92, end: 175),
                ChunksPlan(first: 175, end: nil),
            ])
        #expect(parts.allSatisfy { $0.key == job.key && $0.output == 0 && $0.track == 1 && $0.isValid })
        #expect(parts.map(\.name) == ["0-0-1-0", "0-0-1-92", "0-0-1-175"])
        let costs = try parts.map { JobCost(try #require(job.chunkJob($0, in: "/"))).work }
        #expect(costs.allSatisfy { abs($0 / costs[0] - 1) < 0.02 }, "\(costs)")
        let minWork = try work(job) / 2.9
        #expect(costs.allSatisfy { $0 >= minWork })
    }

    /// Each part reads the source up to its chunks, so that many of them would take no less time than a few.
    @Test func numberOfPartsIsLimited() throws {
        let (short, long) = (try job("short"), try job("long", seconds: 3000))
        #expect(distribution(long, minWork: 1e-6).parts.count == 10)
        for most in [2, 3, 5, 17, 19, 20, 100] {
            let parts = distribution(short, long, minWork: 1e-6, maxParts: most).parts
            #expect(parts.count <= most && parts.count >= min(20, most - 1), "\(parts.count) of \(most)")
            // The longer track is divided first.
            #expect(most > 3 || parts.allSatisfy { $0.id == "long" })
        }
        #expect(distribution(long, minWork: 1e-6, maxParts: 1).parts.isEmpty)
    }

    /// A chunk is never divided, and a track that would be one part has none.
    @Test func shortTracksHaveNoParts() throws {
        let (short, brief) = (try job("short", seconds: 9), try job("brief", seconds: 4))
        #expect(distribution(short, minWork: 1e-9).parts.map(\.chunks.first) == [0, 1, 2])
        for (job, minWork) in [(brief, 1e-9), (short, 1e9)] {
            let found = distribution(job, minWork: minWork)
            #expect(found.parts.isEmpty)
            #expect(found.obstacles.map(\.reason) == ["its estimated work is that of one part"])
        }
    }

    @Test func obstaclesAreStated() throws {
        var (unknown, limited) = (try job("unknown"), try job("limited"))
        unknown.outputs[0].tracks[1].expected.frames = nil
        limited.outputs[0].media?.sizeLimit = 1000
        let found = distribution(
            try job("plain", isDistributed: false), try job("needing", needs: ["plain"]),
            try job("reading", reads: ["plain"]), unknown, limited, try job("current"), minWork: 1e-9,
            creating: { $0.id != "current" })
        #expect(found.parts.isEmpty)
        #expect(
            found.obstacles.map { "\($0.job): \($0.reason)" } == [
                "needing: it depends on other jobs", "reading: it depends on other jobs",
                "unknown: the number of frames is unknown",
                "limited: `limit` may end the output before its last chunks",
            ])
    }

    /// The derived job creates only the file, wherever the whole job would write.
    @Test func derivedJobEncodesOneTrack() throws {
        let job = try job("film")
        let parts = distribution(job, minWork: try work(job) / 2).parts
        let derived = try #require(job.chunkJob(parts[1], in: "/b/chunks"))
        #expect(
            derived.isValid && derived.id == "film[track=0:1,chunks=\(parts[1].chunks.first)]"
                && derived.hasChunks)
        #expect(derived.outputs.count == 1 && derived.outputs[0].destination == "/b/chunks/\(parts[1].name)")
        #expect(derived.outputs[0].tracks.map(\.source.mediaType) == [.video])
        #expect(derived.outputs[0].files == ["/b/chunks/\(parts[1].name)"])
        for (output, track) in [(1, 0), (0, 2), (-1, 0), (0, -1)] {
            var part = parts[0]
            (part.output, part.track) = (output, track)
            #expect(job.chunkJob(part, in: "/") == nil)
        }
        var audio = parts[0]
        audio.track = 0
        #expect(job.chunkJob(audio, in: "/")?.isValid == false)
        let joining = job.reading(parts, in: "/b/chunks")
        #expect(joining.chunkFiles == ["/b/chunks/0-0-1-0", "/b/chunks/\(parts[1].name)"])
        #expect(
            joining.requestedFiles.contains { files in
                if case .listed(let paths) = files { paths == joining.chunkFiles } else { false }
            })
        // The files don't change what is created.
        #expect(try PlanDigest(joining.tasks[0]) == PlanDigest(job.tasks[0]))
    }

    @Test(arguments: ["", "../x", "a", "1/2", "0-0-1-0\0", "٣"]) func namesOfFilesAreNumbers(_ name: String) {
        var part = ChunkPart(
            file: "f", id: "j", output: 0, track: 0, name: "0-0-1-83", chunks: ChunksPlan(first: 0, end: 1))
        #expect(part.isValid)
        part.name = name
        #expect(!part.isValid)
    }

    @Test(arguments: [(-1, nil), (0, 0), (3, 3), (3, 2)] as [(Int, Int?)])
    func emptyRangesAreInvalid(_ first: Int, _ end: Int?) {
        #expect(!ChunksPlan(first: first, end: end).isValid)
    }

    /// Parts that encode chunks come first, then those that read them, each with a job that is independent of others.
    @Test func layoutOrdersParts() throws {
        let (film, series) = (try job("film"), try job("series"))
        let plan = BatchPlan(
            jobs: [
                try .planned("x"), film, try .planned("after", needs: ["film"]), series, try .planned("y"),
            ],
            refusals: [])
        let chunks = ["film", "film", "series", "series"].enumerated().map { index, id in
            ChunkPart(
                file: "jobs.yaml", id: id, output: 0, track: 1, name: "\(index)",
                chunks: ChunksPlan(first: index, end: nil))
        }
        func layout(_ count: Int, _ work: Double = 1) -> ShardLayout {
            ShardPlanner.layout(plan, into: count, chunks: chunks) {
                $0.id == "film" || $0.id == "series" ? work : 1
            }
        }
        // Jobs whose chunks exist only read their sources, and leave the other parts to the other jobs.
        #expect(layout(9).chunks == chunks && layout(9).others == [[0], [4]])
        #expect(layout(9).joining == [[1, 2], [3]] && layout(3).joining == [[1, 2, 3]])
        #expect(layout(3).others == [[0], [4]] && layout(1).others == [[0, 4]])
        #expect(layout(3, 1000).joining == [[1, 2], [3]] && layout(3, 1000).others == [[0, 4]])
        let plain = ShardPlanner.layout(plan, into: 2, chunks: []) { _ in 1 }
        #expect(plain.joining.isEmpty && plain.others.count == 2 && plain.chunks.isEmpty)
        #expect(ShardPlanner.count(for: plan, chunks: chunks, minWork: 60, atMost: 9) { _ in 1 } == 3)
    }
}
