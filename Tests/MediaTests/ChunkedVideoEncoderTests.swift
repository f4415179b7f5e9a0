import Foundation
import TestSupport
import Testing

@testable import LibAV
@testable import Media

/// Video that is encoded in chunks is one stream, whose packets don't depend on the number of chunks in progress.
@Suite struct ChunkedVideoEncoderTests {
    private func configuration(_ encoder: String) throws -> EncoderConfiguration {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 1000))
        (configuration.width, configuration.height) = (64, 64)
        configuration.pixelFormat = .yuv420p
        configuration.frameRate = Rational(25, 1)
        configuration.threads = 1
        let model = try #require(configuration.model)
        for (option, value) in model.always + (model.operation.chunkSettings ?? []) {
            configuration.set(value, at: option)
        }
        model.set(.crf(30_000), in: &configuration)
        if let speeds = model.tuning.speeds { configuration.set(speeds.values[0], at: speeds.option) }
        return configuration
    }

    /// Encodes frames of noise at given times.
    private func encode(
        _ times: [Int64], _ configuration: EncoderConfiguration, chunkLength: Int, maxChunks: Int
    ) throws -> [CodedPacket] {
        try encode(
            times, configuration, chunkLength: chunkLength, maxChunks: maxChunks, stored: nil, recorder: nil
        )
        .packets
    }

    /// Encodes frames of noise, where `changed` states frames with another content. Chunks may be `stored`.
    private func encode(
        _ times: [Int64], _ configuration: EncoderConfiguration, chunkLength: Int = 20, maxChunks: Int = 2,
        stored: StoredChunks?, recorder: ChunkRecorder?, changed: Int? = nil
    ) throws -> (packets: [CodedPacket], reused: Int) {
        let chunked = ChunkedVideoEncoder(
            try FrameEncoder.open(configuration, globalHeaders: true), configuration: configuration,
            globalHeaders: true, chunkLength: chunkLength, maxChunks: maxChunks, stored: stored,
            recorder: recorder)
        var random = SeededGenerator(3)
        var packets: [CodedPacket] = []
        for (position, time) in times.enumerated() where !chunked.hasRecordedFrames {
            let frame = try Frame.video(format: .yuv420p, width: 64, height: 64)
            let shift = UInt8.random(in: 0...40, using: &random)
            for index in 0..<3 {
                frame.withPixels(ofPlane: index) { bytes, plane in
                    for row in 0..<plane.rows {
                        for column in 0..<plane.rowSize {
                            bytes[row * plane.bytesPerRow + column] =
                                UInt8(truncatingIfNeeded: row * column / 7) &+ shift
                                &+ (position == changed ? 9 : 0)
                        }
                    }
                }
            }
            frame.pts = time
            try chunked.send(frame) { packet throws(AVError) in packets.append(CodedPacket(packet)) }
        }
        try chunked.finish { packet throws(AVError) in packets.append(CodedPacket(packet)) }
        return (packets, chunked.counts.reused)
    }

    /// Records some chunks of 95 frames, in chunks of 20, to a file.
    private func record(
        _ chunks: Range<Int>, _ configuration: EncoderConfiguration, to path: String
    ) throws {
        var bytes: [UInt8] = []
        let recorder = try ChunkRecorder(chunks, identity: "a") { bytes += $0 }
        let passed = try encode(Self.timings[1], configuration, stored: nil, recorder: recorder).packets
        #expect(passed.isEmpty)
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// Chunks that others have encoded take the place of encoding: the packets are the same, whichever chunks exist.
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libaom-av1"])
    func recordedChunksAreTheSame(_ encoder: String) throws {
        let scratch = try Scratch()
        let configuration = try configuration(encoder)
        let files = [
            (chunks: 0..<2, path: scratch.file("a")), (chunks: 3..<Int.max, path: scratch.file("b")),
        ]
        for file in files { try record(file.chunks, configuration, to: file.path) }
        let expected = try encode(Self.timings[1], configuration, chunkLength: 20, maxChunks: 1)
        func joined(
            _ identity: String = "a", changed: Int? = nil
        ) throws -> (packets: [CodedPacket], reused: Int) {
            let stored = StoredChunks(files: files, identity: identity, environment: SourceEnvironment())
            return try encode(
                Self.timings[1], configuration, stored: stored, recorder: nil, changed: changed)
        }
        let same = try joined()
        #expect(same.packets == expected && same.reused == 4)
        // Chunks of another encoding or other frames are not used.
        let other = try joined("b")
        #expect(other.packets == expected && other.reused == 0)
        let changed = try joined(changed: 25)
        #expect(changed.packets != expected && changed.packets.count == expected.count && changed.reused == 3)
        let others = try encode(
            Self.timings[1], configuration, stored: nil, recorder: nil, changed: 25)
        #expect(others.packets == changed.packets)
    }

    /// A checksum has all that an encoder reads of a frame, whether its rows are stored top-down or bottom-up.
    @Test func checksumsDifferWithFrames() throws {
        func checksum(_ change: (borrowing Frame) throws -> Void) throws -> Checksum.Value {
            let frame = try Frame.video(format: .yuv420p, width: 30, height: 20)
            for plane in 0..<3 {
                frame.withPixels(ofPlane: plane) { bytes, _ in
                    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) }
                }
            }
            (frame.pts, frame.duration) = (7, 1)
            frame.clearPictureType()
            try change(frame)
            let checksum = try Checksum()
            checksum.add(frame)
            return checksum.finish()
        }
        let plain = try checksum { _ in }
        #expect(try checksum { _ in } == plain && plain.count == Checksum.size)
        // Bytes after the pixels of a row don't count.
        #expect(
            try checksum { $0.withPixels(ofPlane: 0) { bytes, plane in bytes[plane.rowSize] ^= 1 } } == plain)
        #expect(
            try checksum { $0.withPixels(ofPlane: 2) { bytes, plane in bytes[plane.rowSize - 1] ^= 1 } }
                != plain)
        #expect(try checksum { $0.pts = 8 } != plain)
        #expect(try checksum { $0.duration = 2 } != plain)
        #expect(try checksum { $0.requestKeyframe() } != plain)
    }

    /// Whatever happens to a file, its chunks are those that were stored, or none.
    @Test func damagedFilesAreNotUsed() throws {
        let scratch = try Scratch()
        let configuration = try configuration("libx264")
        let path = scratch.file("a")
        try record(0..<5, configuration, to: path)
        let whole = try Data(contentsOf: URL(filePath: path))
        let expected = try encode(Self.timings[1], configuration, chunkLength: 20, maxChunks: 1)
        var random = SeededGenerator(5)
        var reused: Set<Int> = []
        for round in 0..<60 {
            var bytes = whole
            switch round % 3 {
            case 0:
                bytes[Int.random(in: bytes.indices, using: &random)] ^=
                    1 << Int.random(in: 0..<8, using: &random)
            case 1: bytes = bytes.prefix(Int.random(in: bytes.indices, using: &random))
            // The header of the first chunk, whose numbers position the others.
            default:
                bytes[24 + Int.random(in: 0..<56, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try bytes.write(to: URL(filePath: path))
            let stored = StoredChunks(
                files: [(0..<5, path)], identity: "a", environment: SourceEnvironment())
            let found = try encode(Self.timings[1], configuration, stored: stored, recorder: nil)
            #expect(found.packets == expected, "round \(round)")
            reused.insert(found.reused)
        }
        #expect(reused.isSuperset(of: [0, 4]))
    }

    /// Times of a constant rate, and times whose distances differ from chunk to chunk.
    private static let timings: [[Int64]] = [
        (0..<95).map { $0 * 40 },
        (0..<95).reduce(into: []) { times, index in
            times.append((times.last ?? -40) + (index / 20 % 2 == 0 ? 5 : 200) + Int64(index % 3))
        },
        [0], [],
    ]

    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libaom-av1"], timings.indices)
    func packetsAreIndependentOfTheNumberOfChunksInProgress(_ encoder: String, _ timing: Int) throws {
        let times = Self.timings[timing]
        let configuration = try configuration(encoder)
        let expected = try encode(times, configuration, chunkLength: 20, maxChunks: 1)
        for maximum in [2, 5] {
            #expect(try encode(times, configuration, chunkLength: 20, maxChunks: maximum) == expected)
        }
        #expect(expected.map(\.pts).sorted() == times)
        #expect(zip(expected, expected.dropFirst()).allSatisfy { $0.dts < $1.dts })
        #expect(expected.allSatisfy { $0.dts <= $0.pts })
        // Each chunk begins with a keyframe, and its packets precede those of the next chunk.
        for start in stride(from: 0, to: times.count, by: 20) {
            #expect(expected[start].isKey && expected[start].pts == times[start])
        }
    }

    /// A cancelled chunk encodes no more frames.
    @Test func cancelledChunkIsComplete() throws {
        let chunk = try EncodingChunk(
            nil, try configuration("libaom-av1"), globalHeaders: true, extradata: [])
        chunk.cancel()
        for time in 0..<100 {
            let frame = try Frame.video(format: .yuv420p, width: 64, height: 64)
            frame.pts = Int64(time)
            chunk.add(frame)
        }
        #expect(chunk.encodeNext())
        #expect(try chunk.nextPacket() == nil)
    }

    /// Packets of encoders with different parameter sets aren't one stream.
    @Test func otherParameterSetsAreAnError() throws {
        let chunk = try EncodingChunk(
            nil, try configuration("libx264"), globalHeaders: true, extradata: [1, 2, 3])
        chunk.add(try Frame.video(format: .yuv420p, width: 64, height: 64))
        while !chunk.encodeNext() {}
        #expect(throws: AVError.self) { _ = try chunk.nextPacket() }
    }
}
