import TestSupport
import Testing

@testable import LibAV
@testable import Media

/// FLAC that several encoders produce together equals that of one encoder.
@Suite struct ConcurrentFLACEncoderTests {
    private func configuration(_ format: String, _ channels: Int) throws -> EncoderConfiguration {
        var configuration = EncoderConfiguration(
            encoder: "flac", mediaType: .audio, timeBase: Rational(1, 48_000))
        configuration.sampleFormat = try #require(SampleFormat(named: format))
        configuration.sampleRate = 48_000
        configuration.channelLayout = ChannelLayout(defaultFor: channels)
        if configuration.sampleFormat.bytesPerSample == 4 { configuration.bitsPerSample = 24 }
        return configuration
    }

    /// Returns a block with noise of varying level, so that frames have different sizes and predictors.
    private func block(
        _ number: Int, _ count: Int, _ size: Int, _ configuration: EncoderConfiguration,
        _ random: inout SeededGenerator
    ) throws -> Frame {
        let frame = try Frame.audio(
            format: configuration.sampleFormat, layout: try #require(configuration.channelLayout),
            sampleRate: configuration.sampleRate, samples: Int32(count))
        frame.pts = Int64(number * size)
        let shift = number % 40
        frame.withSamples { bytes in
            for index in bytes.indices { bytes[index] = 0 }
            // Little-endian: the last byte of each sample is the highest one.
            let width = configuration.sampleFormat.bytesPerSample
            for index in stride(from: width - 1, to: bytes.count, by: width) {
                bytes[index] = UInt8.random(in: 0...UInt8(255 >> min(7, shift / 5)), using: &random)
                bytes[index - 1] = UInt8(truncatingIfNeeded: index &* number)
            }
        }
        return frame
    }

    @Test(arguments: [("s16", 2, 300), ("s16", 6, 17), ("s32", 2, 140), ("s32", 6, 1), ("s16", 2, 0)])
    func packetsEqualThoseOfOneEncoder(_ format: String, _ channels: Int, _ blocks: Int) throws {
        let configuration = try configuration(format, channels)
        let single = try FrameEncoder.open(configuration, globalHeaders: true)
        let size = single.frameSize
        let concurrent = try #require(
            try ConcurrentFLACEncoder(configuration, parameters: single.parameters, processors: 3))
        var (expected, found) = ([CodedPacket](), [CodedPacket]())
        func receive() throws {
            while true {
                let packet = try Packet()
                guard case .ready = try single.receive(into: packet) else { return }
                expected.append(CodedPacket(packet))
            }
        }
        var random = SeededGenerator(7)
        for number in 0..<blocks {
            let count = number == blocks - 1 ? 1000 : size
            let frame = try block(number, count, size, configuration, &random)
            let same = try frame.reference()
            #expect(try single.send(frame))
            try receive()
            try concurrent.encode(same) { packet throws(AVError) in found.append(CodedPacket(packet)) }
        }
        try single.sendEnd()
        try receive()
        try concurrent.finish { packet throws(AVError) in found.append(CodedPacket(packet)) }
        #expect(found.count == blocks + 1 && found.last?.header != nil)
        // The last packet contains only the header.
        #expect(found.dropLast() == expected.dropLast())
        #expect(found.last?.header == expected.last?.header && found.last?.pts == expected.last?.pts)
    }

    /// A single encoder is used on one processor, and for codecs whose packets depend on each other.
    @Test func otherEncodersAreNotDivided() throws {
        var configuration = try configuration("s16", 2)
        let flac = try FrameEncoder.open(configuration, globalHeaders: true)
        #expect(
            try ConcurrentFLACEncoder(configuration, parameters: flac.parameters, processors: 1) == nil)
        configuration.threads = 1
        #expect(
            try ConcurrentFLACEncoder(configuration, parameters: flac.parameters, processors: 4) == nil)
        configuration.threads = 0
        configuration.encoder = "pcm_s16le"
        #expect(
            try ConcurrentFLACEncoder(configuration, parameters: flac.parameters, processors: 4) == nil)
    }
}
