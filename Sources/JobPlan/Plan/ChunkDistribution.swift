internal import JobSpec
internal import LibAV

/// The division of the chunks of tracks with `parallel: cluster` into parts of a batch.
///
/// A part reads the source from its start, so that later parts of a track read more. They have fewer chunks, so that all parts of a
/// track take about as long.
package struct ChunkDistribution: Sendable {
    /// The parts that encode chunks.
    package private(set) var parts: [ChunkPart] = []
    /// Tracks whose chunks are not distributed, with the reasons as clauses.
    package private(set) var obstacles: [(job: String, reason: String)] = []

    /// Maximum number of parts of a track. Reading the whole source takes as long as encoding `ChunksPlan.readShare` of it, so
    /// that more parts would hardly end earlier.
    private static let maxPartsOfTrack = Int(1 / ChunksPlan.readShare)

    /// Divides the chunks of a plan's jobs. Parts have at least `minWork` seconds of estimated processor time; there are at most
    /// `maxParts`. `creates`: whether a job creates its outputs, which are up to date otherwise.
    package init(
        of plan: BatchPlan, minWork: Double, maxParts: Int,
        creating creates: (JobPlan) -> Bool = { _ in true }
    ) {
        var tracks: [(job: Int, track: DistributedTrack)] = []
        for (index, job) in plan.jobs.enumerated() where creates(job) {
            for found in job.distributions {
                switch found {
                case .possible(let track): tracks.append((index, track))
                case .impossible(let reason): obstacles.append((job.id, reason))
                }
            }
        }
        // Longer tracks gain more.
        let order = tracks.indices.sorted { (tracks[$1].track.work, $0) < (tracks[$0].track.work, $1) }
        var counts = [Int](repeating: 0, count: tracks.count)
        for limit in stride(from: Self.maxPartsOfTrack, through: 2, by: -1) {
            for index in tracks.indices {
                counts[index] = tracks[index].track.partCount(minWork: minWork, atMost: limit)
            }
            if counts.reduce(0, +) <= maxParts { break }
        }
        var rest = maxParts
        for index in order {
            if counts[index] > rest { counts[index] = 0 }
            rest -= counts[index]
        }
        for (found, count) in zip(tracks, counts) {
            guard count > 1 else {
                obstacles.append((plan.jobs[found.job].id, "its estimated work is that of one part"))
                continue
            }
            parts += found.track.parts(count, of: plan.jobs[found.job], at: found.job)
        }
    }
}

/// A track whose chunks several machines can encode.
private struct DistributedTrack {
    let output: Int
    let track: Int
    let chunkCount: Int
    /// Estimated processor time of encoding all chunks in seconds.
    let work: Double

    /// Work of a part as a fraction of encoding all chunks, if `count` parts take equally long.
    private func share(ofParts count: Int) -> Double { ChunksPlan.readShare / Self.reach(count) }

    /// Fraction of the chunks that the first `count` of infinitely many parts encode that take equally long: each encodes less
    /// than the one before by the time in which it reads the chunks of that one.
    private static func reach(_ count: Int) -> Double {
        1 - (0..<count).reduce(1) { rest, _ in rest * (1 - ChunksPlan.readShare) }
    }

    /// Returns the greatest number of parts with a minimum of work; 0 if it isn't more than one.
    func partCount(minWork: Double, atMost limit: Int) -> Int {
        stride(from: min(limit, chunkCount), to: 1, by: -1).first { work * share(ofParts: $0) >= minWork }
            ?? 0
    }

    /// Returns the parts; `position` is that of the job in the plan.
    func parts(_ count: Int, of job: JobPlan, at position: Int) -> [ChunkPart] {
        let bounds = (0...count).map {
            Int((Double(chunkCount) * Self.reach($0) / Self.reach(count)).rounded())
        }
        return zip(bounds, bounds.dropFirst()).filter { $0 < $1 }.map { first, end in
            ChunkPart(
                file: job.file, id: job.id, output: output, track: track,
                name: "\(position)-\(output)-\(track)-\(first)",
                // The number of frames is an estimate.
                chunks: ChunksPlan(first: first, end: end == chunkCount ? nil : end))
        }
    }
}

extension JobPlan {
    /// A track with `parallel: cluster`.
    fileprivate enum Distribution {
        case possible(DistributedTrack)
        /// The reason why other machines can't encode its chunks, as a clause.
        case impossible(String)
    }

    /// The tracks with `parallel: cluster`.
    fileprivate var distributions: [Distribution] {
        outputs.enumerated().flatMap { index, output in
            output.allTracks.enumerated().compactMap { position, track in
                track.encoding?.chunkFiles.map { _ in
                    distribution(of: track, at: position, of: output, at: index)
                }
            }
        }
    }

    private func distribution(
        of track: TrackPlan, at position: Int, of output: OutputPlan, at index: Int
    ) -> Distribution {
        if !readJobs.isEmpty || !needs.isEmpty { return .impossible("it depends on other jobs") }
        guard let media = output.media else { return .impossible("a package is created as a whole") }
        if media.sizeLimit != nil { return .impossible("`limit` may end the output before its last chunks") }
        guard let length = track.encoding?.encoder.chunk, let frames = track.expected.frames else {
            return .impossible("the number of frames is unknown")
        }
        let whole = ChunkPart(
            file: file, id: id, output: index, track: position, name: "",
            chunks: ChunksPlan(first: 0, end: nil))
        guard let job = chunkJob(whole, in: "") else { return .impossible("the track isn't encoded") }
        return .possible(
            DistributedTrack(
                output: index, track: position, chunkCount: (frames + length - 1) / max(1, length),
                work: JobCost(job).work))
    }
}
