internal import Dispatch
internal import LibAV

/// Encodes FLAC on several processors.
///
/// A FLAC frame contains its number, and depends on no other frame in any other way. Each of several encoders therefore
/// receives every n-th block of samples, and its frames are numbered anew. The packets equal those of a single encoder;
/// so does the final STREAMINFO, whose totals and checksum are computed here.
///
/// Confined to one queue. Blocks are collected, and encoded in batches while the caller waits.
final class ConcurrentFLACEncoder {
    /// An encoder. Unchecked `Sendable`: within a batch, one thread uses it.
    private final class Lane: @unchecked Sendable {
        let encoder: FrameEncoder
        init(_ configuration: EncoderConfiguration) throws(AVError) {
            encoder = try FrameEncoder.open(configuration, globalHeaders: true)
        }
    }

    /// A block of samples and its packet. Unchecked `Sendable`: one thread encodes it, while another may read its samples
    /// for the checksum; after the batch, only the caller uses it.
    private final class Block: @unchecked Sendable {
        let frame: Frame
        let number: UInt64
        var packet: Packet?
        var failure: AVError?

        init(_ frame: consuming Frame, _ number: UInt64) {
            self.frame = frame
            self.number = number
        }
    }

    /// The checksum of all samples. Unchecked `Sendable`: within a batch, one thread uses it.
    private final class Checksum: @unchecked Sendable {
        /// Nil at the end.
        private var hasher: MD5Hasher?
        private let bytesPerSample: Int
        private var buffer: [UInt8] = []

        init(bitsPerSample: Int) throws(AVError) {
            hasher = try MD5Hasher()
            bytesPerSample = bitsPerSample / 8
        }

        func update(_ frame: borrowing Frame) {
            // 24 bits are the upper ones of 32.
            let isPacked = frame.sampleFormat.bytesPerSample == 4 && bytesPerSample == 3
            frame.withSamples { samples in
                guard isPacked else { return add(UnsafeRawBufferPointer(samples)) }
                let values = samples.bindMemory(to: Int32.self)
                if buffer.count < values.count * 3 { buffer = [UInt8](repeating: 0, count: values.count * 3) }
                buffer.withUnsafeMutableBytes { bytes in
                    for (index, value) in values.enumerated() {
                        bytes[3 * index] = UInt8(truncatingIfNeeded: value >> 8)
                        bytes[3 * index + 1] = UInt8(truncatingIfNeeded: value >> 16)
                        bytes[3 * index + 2] = UInt8(truncatingIfNeeded: value >> 24)
                    }
                    add(UnsafeRawBufferPointer(rebasing: bytes[..<(3 * values.count)]))
                }
            }
        }

        private func add(_ bytes: UnsafeRawBufferPointer) { hasher?.update(bytes) }

        /// Returns the checksum. No samples can be added afterwards.
        func finish() -> [UInt8] { hasher.take()?.finish() ?? [] }
    }

    private let lanes: [Lane]
    private let checksum: Checksum
    private var header: FLACStreamInfo
    private var blocks: [Block] = []
    private var blockCount: UInt64 = 0
    /// Position behind the last block, in samples.
    private var end: Int64 = 0
    private var smallestFrame: Int
    private var largestFrame = 0

    /// More encoders than this would wait for the checksum, which is computed sequentially.
    private static let maxLanes = 8
    /// Number of blocks of each encoder in a batch: long enough that threads rarely wait for each other, short enough for
    /// little memory (at 48 kHz, a block takes about 0.1 s).
    private static let blocksPerLane = 8

    /// Creates an encoder for `processors`; nil if a single encoder does the same: for another codec or sample size, or
    /// for one processor. `parameters` are those of an encoder with the same configuration.
    init?(
        _ configuration: EncoderConfiguration, parameters: CodecParameters, processors: Int
    ) throws(AVError) {
        let lanes = min(configuration.threads > 0 ? configuration.threads : processors, Self.maxLanes)
        let format = configuration.sampleFormat
        guard lanes > 1, configuration.model?.operation.hasIndependentFLACFrames == true, !format.isPlanar,
            let header = FLACStreamInfo(parameters.extradata),
            (header.bitsPerSample, format.bytesPerSample) == (16, 2)
                || (header.bitsPerSample, format.bytesPerSample) == (24, 4)
        else { return nil }
        self.header = header
        // The header of an encoder that has encoded nothing states an upper bound of the frames' sizes.
        smallestFrame = header.largestFrame
        var opened: [Lane] = []
        for _ in 0..<lanes { opened.append(try Lane(configuration)) }
        self.lanes = opened
        checksum = try Checksum(bitsPerSample: header.bitsPerSample)
    }

    /// Encodes a block of samples: one frame of the encoder, or less at the end. Passes on the packets of complete
    /// batches.
    func encode(
        _ frame: consuming Frame, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws(AVError) {
        end = frame.pts + Int64(frame.sampleCount)
        header.samples += UInt64(frame.sampleCount)
        blocks.append(Block(frame, blockCount))
        blockCount += 1
        if blocks.count == lanes.count * Self.blocksPerLane { try encodeBatch(into: sink) }
    }

    /// Encodes the remaining blocks, and passes on the final STREAMINFO as side data of an empty packet.
    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        try encodeBatch(into: sink)
        (header.smallestFrame, header.largestFrame) = (smallestFrame, largestFrame)
        header.checksum = checksum.finish()
        let packet = try Packet.containing(header: header.bytes)
        packet.pts = end
        try sink(packet)
    }

    private func encodeBatch(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError) {
        let (batch, lanes, checksum) = (blocks, lanes, checksum)
        blocks = []
        // The checksum is the first iteration, because it is the longest sequential part.
        DispatchQueue.concurrentPerform(iterations: lanes.count + 1) { iteration in
            if iteration == 0 {
                for block in batch { checksum.update(block.frame) }
                return
            }
            for index in stride(from: iteration - 1, to: batch.count, by: lanes.count) {
                Self.encode(batch[index], with: lanes[iteration - 1])
            }
        }
        for block in batch {
            if let failure = block.failure { throw failure }
            guard let packet = block.packet.take() else { continue }
            smallestFrame = min(smallestFrame, packet.size)
            largestFrame = max(largestFrame, packet.size)
            try sink(packet)
        }
    }

    private static func encode(_ block: Block, with lane: Lane) {
        do throws(AVError) {
            let packet = try Packet()
            guard try lane.encoder.send(block.frame), case .ready = try lane.encoder.receive(into: packet)
            else {
                throw AVError(code: -22, operation: "encoding", detail: "the encoder returned no frame")
            }
            let renumbered = packet.withBytes { bytes in
                FLACFrameHeader(bytes).map {
                    FLACFrameNumber.replaced(in: bytes, $0, by: block.number)
                }
            }
            guard let renumbered else {
                throw AVError(code: -22, operation: "encoding", detail: "the packet is not a FLAC frame")
            }
            let result = try Packet.of(renumbered)
            try result.copyProperties(of: packet)
            block.packet = consume result
        } catch {
            block.failure = error
        }
    }
}
