internal import JobPlan
internal import LibAV
internal import Media

/// The work of a file with encoded chunks: reads a video track from its start, and encodes the frames of the chunks.
final class ChunksWork: OutputWork, Sendable {
    private let source: OutputSource
    private let chunks: ChunksPlan
    private let recording: ChunkRecording

    init(_ source: OutputSource, chunks: ChunksPlan, _ builder: SessionBuilder) throws {
        guard let container = ContainerType.named(source.task.output.container) else {
            throw MediaError.internalError("unknown container \(source.task.output.container)")
        }
        let (reader, output) = try builder.readerOutput(of: source, in: container)
        self.source = source
        self.chunks = chunks
        recording = try ChunkRecording(
            reader: reader, output: output, configuration: source.encoding.encoder, container: container,
            maxChunks: source.encoding.maxChunks)
    }

    var fraction: Double {
        guard let length = source.encoding.encoder.chunk, let all = source.planned.expected.frames else {
            return 0
        }
        let progress = recording.progress
        let end = min(all, (chunks.end ?? .max).multiplied(upToLimit: length))
        let encoded = end - chunks.first.multiplied(upToLimit: length)
        func work(encoding encoded: Int, reading read: Int) -> Double {
            Double(encoded) + Double(read) * ChunksPlan.readShare
        }
        let total = work(encoding: encoded, reading: end)
        return total > 0 ? min(1, work(encoding: progress.encoded, reading: progress.read) / total) : 0
    }

    func run() throws -> OutputFindings {
        let recording = recording
        try source.cancellation.begin { recording.cancel() }
        let writer = PartWriter(source.file)
        let report = try recording.record(
            chunks.indices, identity: source.encoding.chunkIdentity(), write: writer.append)
        var findings = OutputFindings()
        findings.tracks = [report]
        return findings
    }
}
