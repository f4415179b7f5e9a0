internal import JobPlan
internal import LibAV
internal import Media

/// The work of a file with encoded chunks: reads a video track from its start, and encodes the frames of the chunks.
final class ChunksWork: OutputWork, Sendable {
    private let source: OutputSource
    private let chunks: ChunksPlan
    private let recording: ChunkRecording

    init(_ source: OutputSource, chunks: ChunksPlan, output: AssetReaderOutput, reader: AssetReader) throws {
        guard let container = ContainerType.named(source.task.output.container) else {
            throw MediaError.internalError("unknown container \(source.task.output.container)")
        }
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
        // Reading a frame takes about a tenth of the time of encoding it, as in the cost (`ChunksPlan`).
        let total = Double(encoded) + Double(end) / 10
        return total > 0 ? min(1, (Double(progress.encoded) + Double(progress.read) / 10) / total) : 0
    }

    func run() throws -> OutputFindings {
        let recording = recording
        try source.cancellation.begin { recording.cancel() }
        let writer = PartWriter(source.file)
        let result = try recording.record(
            chunks.indices, identity: source.encoding.chunkIdentity(), write: writer.append)
        var findings = OutputFindings()
        findings.tracks = [result.report]
        return findings
    }
}
