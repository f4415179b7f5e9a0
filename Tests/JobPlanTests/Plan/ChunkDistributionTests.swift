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

    private func plan(_ jobs: JobPlan...) -> BatchPlan { BatchPlan(jobs: jobs, refusals: []) }

    private func work(_ job: JobPlan) throws -> Double { try #require(job.distributedTracks.first).work }

    /// The chunks of a track are divided evenly, and the last part has all to the end, since the number of frames is expected.
    @Test func partsHaveTheMinimumWork() throws {
        let job = try job("film")
        let parts = ChunkDistribution(minWork: try work(job) / 3.5, maxParts: 100).parts(of: plan(job))
        #expect(
            parts.map(\.chunks) == [
                ChunksPlan(first: 0, end: 83), ChunksPlan(first: 83, end: 166),
                ChunksPlan(first: 166, end: nil),
            ])
        #expect(parts.allSatisfy { $0.key == job.key && $0.output == 0 && $0.track == 1 && $0.isValid })
        #expect(parts.map(\.name) == ["0-0-1-0", "0-0-1-83", "0-0-1-166"])
    }

    /// A chunk is never divided, and a track that would be one part has none.
    @Test func shortTracksHaveNoParts() throws {
        let (short, brief) = (try job("short", seconds: 9), try job("brief", seconds: 4))
        let distribution = ChunkDistribution(minWork: 1e-9, maxParts: 100)
        #expect(distribution.parts(of: plan(short)).map(\.chunks.first) == [0, 1, 2])
        #expect(distribution.parts(of: plan(brief)).isEmpty)
        #expect(ChunkDistribution(minWork: 1e9, maxParts: 100).parts(of: plan(short)).isEmpty)
    }

    @Test func numberOfPartsIsLimited() throws {
        let jobs = plan(try job("a"), try job("b", seconds: 3000))
        for most in [2, 5, 17, 100] {
            let parts = ChunkDistribution(minWork: 1e-6, maxParts: most).parts(of: jobs)
            #expect(parts.count <= most && parts.count * 3 >= most, "\(parts.count) of \(most)")
        }
        #expect(ChunkDistribution(minWork: 1e-6, maxParts: 0).parts(of: jobs).isEmpty)
    }

    @Test func otherJobsHaveNoParts() throws {
        let distribution = ChunkDistribution(minWork: 1e-9, maxParts: 100)
        let jobs = plan(
            try job("plain", isDistributed: false), try job("needing", needs: ["plain"]),
            try job("reading", reads: ["plain"]))
        #expect(distribution.parts(of: jobs).isEmpty)
        #expect(jobs.jobs.map(\.distributesChunks) == [false, true, true])
        #expect(
            jobs.jobs.map(\.distributionObstacle) == [
                nil, "it depends on other jobs", "it depends on other jobs",
            ])
    }

    /// The derived job creates only the file, wherever the whole job would write.
    @Test func derivedJobEncodesOneTrack() throws {
        let job = try job("film")
        let parts = ChunkDistribution(minWork: try work(job) / 2, maxParts: 9).parts(of: plan(job))
        let derived = try #require(job.chunkJob(parts[1], in: "/b/chunks"))
        #expect(derived.isValid && derived.id == "film[chunks=125]" && derived.hasChunks)
        #expect(derived.outputs.count == 1 && derived.outputs[0].destination == "/b/chunks/0-0-1-125")
        #expect(derived.outputs[0].tracks.map(\.source.mediaType) == [.video])
        #expect(derived.outputs[0].files == ["/b/chunks/0-0-1-125"])
        // Frames before the chunks are decoded.
        #expect(JobCost(derived).work > JobCost(try #require(job.chunkJob(parts[0], in: "/"))).work)
        for (output, track) in [(1, 0), (0, 2), (-1, 0), (0, -1)] {
            var part = parts[0]
            (part.output, part.track) = (output, track)
            #expect(job.chunkJob(part, in: "/") == nil)
        }
        var audio = parts[0]
        audio.track = 0
        #expect(job.chunkJob(audio, in: "/")?.isValid == false)
        let joining = job.reading(parts, in: "/b/chunks")
        #expect(joining.chunkFiles == ["/b/chunks/0-0-1-0", "/b/chunks/0-0-1-125"])
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
        let chunks = ChunkDistribution(minWork: try work(film) / 2, maxParts: 9).parts(of: plan)
        #expect(chunks.map(\.id) == ["film", "film", "series", "series"])
        func layout(_ count: Int) -> ShardLayout {
            ShardPlanner.layout(plan, into: count, chunks: chunks) { _ in 1 }
        }
        let wide = layout(9)
        #expect(wide.chunks == chunks && wide.joining == [[1, 2], [3]] && wide.others == [[0], [4]])
        #expect(layout(3).joining == [[1, 2], [3]] && layout(3).others == [[0, 4]])
        #expect(layout(1).joining == [[1, 2, 3]] && layout(1).others == [[0, 4]])
        let plain = ShardPlanner.layout(plan, into: 2, chunks: []) { _ in 1 }
        #expect(plain.joining.isEmpty && plain.others.count == 2 && plain.chunks.isEmpty)
        #expect(ShardPlanner.count(for: plan, chunks: chunks, minWork: 60, atMost: 9) { _ in 1 } == 3)
    }
}
