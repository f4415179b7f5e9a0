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
        let chunked = ChunkedVideoEncoder(
            try FrameEncoder.open(configuration, globalHeaders: true), configuration: configuration,
            globalHeaders: true, chunkLength: chunkLength, maxChunks: maxChunks)
        var random = SeededGenerator(3)
        var packets: [CodedPacket] = []
        for time in times {
            let frame = try Frame.video(format: .yuv420p, width: 64, height: 64)
            let shift = UInt8.random(in: 0...40, using: &random)
            for index in 0..<3 {
                frame.withPixels(ofPlane: index) { bytes, plane in
                    for row in 0..<plane.rows {
                        for column in 0..<plane.rowSize {
                            bytes[row * plane.bytesPerRow + column] =
                                UInt8(truncatingIfNeeded: row * column / 7) &+ shift
                        }
                    }
                }
            }
            frame.pts = time
            try chunked.send(frame) { packet throws(AVError) in packets.append(CodedPacket(packet)) }
        }
        try chunked.finish { packet throws(AVError) in packets.append(CodedPacket(packet)) }
        return packets
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
        let chunk = EncodingChunk(
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
        let chunk = EncodingChunk(
            nil, try configuration("libx264"), globalHeaders: true, extradata: [1, 2, 3])
        chunk.add(try Frame.video(format: .yuv420p, width: 64, height: 64))
        while !chunk.encodeNext() {}
        #expect(throws: AVError.self) { _ = try chunk.nextPacket() }
    }
}
