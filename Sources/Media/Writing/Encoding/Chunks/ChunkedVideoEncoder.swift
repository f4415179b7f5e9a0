internal import DequeModule
internal import LibAV

/// Encodes video in chunks of a number of frames, several of them at a time.
///
/// Each chunk has a separate encoder with one thread, and begins with a keyframe. The packets of a chunk therefore depend
/// only on its frames: they are the same for any number of chunks in progress, and on any machine. The packets of all
/// chunks are one stream, because encoders with the same configuration write the same parameter sets.
///
/// Some of the chunks may exist already, such as those that other machines have encoded. A recorder encodes only some of the
/// chunks, and keeps their packets instead of passing them on.
///
/// Confined to one queue. A caller that would get too far ahead of the encoders encodes frames of the earliest chunk
/// itself, so it never only waits.
final class ChunkedVideoEncoder {
    private let configuration: EncoderConfiguration
    private let globalHeaders: Bool
    private let chunkLength: Int
    private let maxChunks: Int
    private let extradata: [UInt8]
    let timeBase: Rational
    /// The encoder of the first chunk, until it begins.
    private var opened: FrameEncoder?
    /// Chunks in progress, in presentation order. Only the last one receives frames.
    private var chunks: Deque<EncodingChunk> = []
    /// Number of frames received so far.
    private var frameCount = 0
    private let stored: StoredChunks?
    private let recorder: ChunkRecorder?
    /// Number of chunks that are complete.
    private(set) var counts = ChunkCounts()
    /// Decoding time of the last packet.
    private var lastTime = Int64.min

    /// Creates an encoder. `encoder` has been opened with `configuration`, and encodes the first chunk. At most
    /// `maxChunks` chunks are in progress. `stored`: chunks that may exist already. `recorder`: receives the packets.
    init(
        _ encoder: consuming FrameEncoder, configuration: EncoderConfiguration, globalHeaders: Bool,
        chunkLength: Int, maxChunks: Int, stored: StoredChunks? = nil, recorder: ChunkRecorder? = nil
    ) {
        self.stored = stored
        self.recorder = recorder
        self.configuration = configuration
        self.globalHeaders = globalHeaders
        self.chunkLength = max(1, chunkLength)
        self.maxChunks = max(1, maxChunks)
        timeBase = encoder.timeBase
        extradata = encoder.parameters.extradata
        opened = consume encoder
    }

    deinit { for chunk in chunks { chunk.cancel() } }

    /// Whether the packets are kept by a recorder instead of being passed on.
    var isRecording: Bool { recorder != nil }

    /// Whether all frames of the recorded chunks have been received; false without a recorder.
    var hasRecordedFrames: Bool {
        recorder.map { frameCount >= $0.chunks.upperBound.multiplied(upToLimit: chunkLength) } ?? false
    }

    /// Encodes a frame, and passes on the packets that are complete. Without effect for a frame of a chunk that isn't recorded.
    func send(
        _ frame: consuming Frame, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        let (chunk, position) = frameCount.quotientAndRemainder(dividingBy: chunkLength)
        frameCount += 1
        if let recorder, !recorder.chunks.contains(chunk) { return }
        if position == 0 {
            chunks.last?.end()
            while chunks.count >= maxChunks { try finishFirst(into: sink) }
            chunks.append(
                try EncodingChunk(
                    opened.take(), configuration, globalHeaders: globalHeaders, extradata: extradata,
                    stored: stored?.chunk(chunk), measures: isRecording))
        }
        chunks.last?.add(frame)
        if let first = chunks.first { try drain(first, into: sink) }
    }

    /// Encodes the remaining frames, and passes on all packets.
    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        chunks.last?.end()
        while !chunks.isEmpty { try finishFirst(into: sink) }
    }

    /// Completes the earliest chunk.
    private func finishFirst(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        guard let first = chunks.first else { return }
        var isComplete = false
        while !isComplete {
            isComplete = first.encodeNext()
            try drain(first, into: sink)
        }
        chunks.removeFirst()
        let (checksum, isReused) = first.result
        counts.all += 1
        if isReused { counts.reused += 1 }
        if let recorder, let checksum { try recorder.endChunk(of: checksum) }
    }

    private func drain(
        _ chunk: EncodingChunk, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        while let packet = try chunk.nextPacket() {
            if let recorder {
                try recorder.add(packet)
                continue
            }
            if packet.dts == noTimestamp { packet.dts = packet.pts }
            // Encoders extrapolate the first decoding times of a chunk from the distance of its first frames. If frames of the
            // chunk before are closer together, these times precede those of its last packets, which leave enough later ones.
            if packet.dts <= lastTime { packet.dts = lastTime + 1 }
            guard packet.dts <= packet.pts else {
                throw AVError(
                    code: -22, operation: "encoding",
                    detail: "a packet has a decoding time after its presentation time")
            }
            lastTime = packet.dts
            try sink(packet)
        }
    }
}

/// Numbers of chunks of a track.
package struct ChunkCounts: Codable, Hashable, Sendable {
    /// Number of all chunks.
    package var all = 0
    /// Number of chunks that were not encoded, because they existed already.
    package var reused = 0
}
