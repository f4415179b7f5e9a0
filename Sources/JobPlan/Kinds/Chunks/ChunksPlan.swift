internal import LibAV
internal import Media

/// The plan of a file with some encoded chunks of a video track, which the job of the whole track reads. Job files can't
/// describe it: parts of a submitted batch create such files (`ChunkPart`).
package struct ChunksPlan: Codable, Hashable, Sendable {
    /// Index of the first chunk.
    package var first: Int
    /// Index after the last chunk; nil for all to the end of the track.
    package var end: Int?

    /// Estimated time of reading a frame as a fraction of that of encoding it.
    package static let readShare = 0.1

    /// Indices of the chunks.
    package var indices: Range<Int> { first..<(end ?? .max) }

    var isValid: Bool { first >= 0 && end.map { $0 > first } != false }
}

extension ChunksPlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool {
        isValid && output.tracks.count == 1 && output.tracks.first?.encoding?.encoder.chunk != nil
            && ContainerType.named(output.container) != nil
    }

    /// A cache contains the whole output instead.
    package func isCacheable(_ output: OutputPlan) -> Bool { false }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        var cost = MediaPlan.empty.cost(of: output, in: job)
        guard let track = output.tracks.first, let length = track.encoding?.encoder.chunk,
            let frames = track.expected.frames, frames > 0
        else { return cost }
        let end = min(frames, (end ?? .max).multiplied(upToLimit: length))
        let encoded = max(0, end - first.multiplied(upToLimit: length))
        // Frames before the chunks are only read.
        cost.work *=
            (Double(encoded) + Self.readShare * Double(max(0, end - encoded))) / Double(frames)
        return cost
    }

    package func summary(of output: OutputPlan) -> String {
        end.map { "chunks \(first) to \($0 - 1)" } ?? "chunks from \(first) on"
    }

    package func expectedText(of output: OutputPlan) -> String { summary(of: output) }
}

/// A file that may contain encoded chunks of a track.
package struct ChunkFilePlan: Codable, Hashable, Sendable {
    /// Absolute path of the file.
    package var path: String
    package var chunks: ChunksPlan

    package init(path: String, chunks: ChunksPlan) { (self.path, self.chunks) = (path, chunks) }
}

extension JobPlan {
    /// Absolute paths of files with encoded chunks, any of which may be missing.
    var chunkFiles: [String] {
        outputs.flatMap(\.tracks).flatMap { $0.encoding?.chunkFiles ?? [] }.map(\.path)
    }
}
