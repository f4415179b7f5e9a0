internal import Diagnostics
internal import JobSpec
internal import LibAV

/// A part of a submitted batch that encodes some chunks of a job's track and keeps them in a file, for the part that contains
/// the job.
package struct ChunkPart: Codable, Hashable, Sendable {
    /// Path of the job file of the job, as given by the user.
    package var file: String
    /// Id of the job instance.
    package var id: String
    /// Index of the output in the job.
    package var output: Int
    /// Index of the track in the output.
    package var track: Int
    /// Path of the file, relative to the folder of the chunks.
    package var name: String
    package var chunks: ChunksPlan

    /// The job.
    package var key: JobKey { JobKey(file: file, id: id) }

    /// Whether the values are in range. Checked for values from a shared folder.
    package var isValid: Bool {
        output >= 0 && track >= 0 && chunks.isValid && !name.isEmpty
            && name.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}

/// The division of jobs' chunks into parts of a batch.
package struct ChunkDistribution: Sendable {
    /// Minimum work of a part in seconds of estimated processor time.
    private let minWork: Double
    /// Maximum number of parts.
    private let maxParts: Int

    package init(minWork: Double, maxParts: Int) { (self.minWork, self.maxParts) = (minWork, maxParts) }

    /// Returns the parts that encode chunks of a plan's jobs: for each track with `parallel: cluster`, as many as have the minimum
    /// work. A track that would be one part has none.
    package func parts(of plan: BatchPlan) -> [ChunkPart] {
        let tracks = plan.jobs.enumerated().flatMap { index, job in
            job.distributedTracks.map { (job: index, track: $0) }
        }
        func counts(_ minWork: Double) -> [Int] {
            tracks.map { min($0.track.chunkCount, Int(min($0.track.work / minWork, 1e6))) }
        }
        var (minWork, count) = (minWork, counts(minWork))
        while count.reduce(0, { $0 + ($1 > 1 ? $1 : 0) }) > maxParts {
            minWork *= 1.2
            count = counts(minWork)
        }
        return zip(tracks, count).flatMap { found, count -> [ChunkPart] in
            guard count > 1 else { return [] }
            let (job, track) = (plan.jobs[found.job], found.track)
            let bounds = (0...count).map { track.chunkCount * $0 / count }
            return (0..<count).map { part in
                ChunkPart(
                    file: job.file, id: job.id, output: track.output, track: track.track,
                    name: "\(found.job)-\(track.output)-\(track.track)-\(bounds[part])",
                    chunks: ChunksPlan(
                        first: bounds[part], end: part == count - 1 ? nil : bounds[part + 1]))
            }
        }
    }
}

extension JobPlan {
    /// A track whose chunks several machines encode.
    struct DistributedTrack {
        let output: Int
        let track: Int
        let chunkCount: Int
        /// Estimated processor time in seconds.
        let work: Double
    }

    /// The tracks with `parallel: cluster` that are divided into chunks. There are none if the job depends on other jobs, which
    /// have no results before the batch runs.
    var distributedTracks: [DistributedTrack] {
        guard distributionObstacle == nil else { return [] }
        return outputs.enumerated().flatMap { index, output -> [DistributedTrack] in
            guard output.isMedia else { return [] }
            return output.tracks.enumerated().compactMap { position, track in
                guard let encoding = track.encoding, encoding.chunkFiles != nil,
                    let length = encoding.encoder.chunk, let frames = track.expected.frames
                else { return nil }
                let chunks = ChunksPlan(first: 0, end: nil)
                guard let part = chunkJob(output: index, track: position, chunks, at: "/", id: "") else {
                    return nil
                }
                return DistributedTrack(
                    output: index, track: position, chunkCount: (frames + length - 1) / max(1, length),
                    work: JobCost(part).work)
            }
        }
    }

    /// Whether a track has `parallel: cluster`.
    package var distributesChunks: Bool {
        outputs.flatMap(\.allTracks).contains { $0.encoding?.chunkFiles != nil }
    }

    /// The reason why no other machine can encode chunks before the job is executed, as a clause; nil if there is none.
    package var distributionObstacle: String? {
        if !readJobs.isEmpty || !needs.isEmpty { return "it depends on other jobs" }
        return outputs.contains { $0.isMedia && $0.hasChunks } ? nil : "a package is created as a whole"
    }

    /// Returns the job that creates the file of a part beneath a folder; nil if the job has no such track.
    package func chunkJob(_ part: ChunkPart, in folder: String) -> JobPlan? {
        chunkJob(
            output: part.output, track: part.track, part.chunks, at: folder + "/" + part.name,
            id: "\(id)[chunks=\(part.chunks.first)]")
    }

    private func chunkJob(
        output index: Int, track position: Int, _ chunks: ChunksPlan, at path: String, id: String
    ) -> JobPlan? {
        guard outputs.indices.contains(index), outputs[index].tracks.indices.contains(position) else {
            return nil
        }
        var output = outputs[index]
        output.id = nil
        output.tracks = [output.tracks[position]]
        output.kind = .chunks(chunks)
        (output.destination, output.ifExists, output.makesDirectories) = (path, .replace, true)
        (output.expectations, output.ledger, output.notes, output.warnings) = ([], [], [], [])
        output.expectedSize = nil
        var job = self
        (job.id, job.needs, job.publishIf, job.dividedOutputs) = (id, [], nil, nil)
        job.inputs = [inputs[output.input]]
        output.input = 0
        job.outputs = [output]
        return job
    }

    /// Returns the job with the files in which the parts keep chunks of its tracks.
    package func reading(_ parts: [ChunkPart], in folder: String) -> JobPlan {
        var job = self
        for part in parts where outputs.indices.contains(part.output) {
            guard outputs[part.output].tracks.indices.contains(part.track),
                case .encode(var encoding) = job.outputs[part.output].tracks[part.track].action
            else { continue }
            encoding.chunkFiles =
                (encoding.chunkFiles ?? [])
                + [ChunkFilePlan(path: folder + "/" + part.name, chunks: part.chunks)]
            job.outputs[part.output].tracks[part.track].action = .encode(encoding)
        }
        return job
    }
}

extension TrackPlan.Encoding {
    /// Returns the text that determines how frames are encoded, by which files with chunks are recognized.
    package func chunkIdentity() throws -> String { try JSONFormat.text(of: encoder) }
}
