import Foundation
import TandemKit
import TestSupport
import Testing

/// Tests writing frames, audio samples and packets that a program creates.
@Suite struct PixelBufferTests {
    private func writer(
        in scratch: Scratch, timeBase: Rational = Rational(1, 1000), format: PixelFormat? = nil
    ) async throws -> (AssetWriter, AssetWriterInput, AssetWriterInputPixelBufferAdaptor, URL) {
        let settings = try await OutputSettingsAssistant.videoSettings(
            preset: .medium, size: PixelSize(width: 64, height: 48), frameRate: Rational(25, 1),
            timeBase: timeBase)
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: settings)
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: format)
        try writer.add(input)
        return (writer, input, adaptor, url)
    }

    /// Creates a FLAC writer with an input.
    private func flacWriter(
        in scratch: Scratch, _ layout: ChannelLayout
    ) throws -> (AssetWriter, AssetWriterInput, URL) {
        var settings = EncoderConfiguration(encoder: "flac", mediaType: .audio, timeBase: Rational(1, 48_000))
        (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (48_000, .s16, layout)
        let url = URL(fileURLWithPath: scratch.file("o.flac"))
        let writer = try AssetWriter(url: url, container: .flac)
        return (writer, AssetWriterInput(mediaType: .audio, settings: .encode(settings)), url)
    }

    private func fill(_ buffer: PixelBuffer, _ value: UInt8) throws {
        for plane in 0..<buffer.planeCount {
            try buffer.withMutablePlane(plane) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = plane == 0 ? value : 128 }
            }
        }
    }

    /// Irregular times are kept, and the last frame ends with the session.
    @Test func irregularTimesAreKept() async throws {
        let scratch = try Scratch()
        let (writer, input, adaptor, url) = try await writer(in: scratch)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let times: [Int64] = [0, 17, 40, 41, 333, 1000]
        for (number, time) in times.enumerated() {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            try fill(buffer, UInt8(20 + number * 30))
            try adaptor.append(buffer, at: MediaTime(value: time, timescale: 1000))
        }
        try writer.endSession(atSourceTime: MediaTime(value: 1500, timescale: 1000))
        try input.markAsFinished()
        try await writer.finishWriting()
        let found = try FFmpegFile(url.path).frames().times
        #expect(found.count == times.count)
        #expect(zip(found, times).allSatisfy { abs($0 - Double($1) / 1000) < 0.0005 }, "\(found)")
        let asset = Asset(url: url)
        #expect(try await asset.load(.duration) == MediaTime(value: 1500, timescale: 1000))
    }

    /// If the session has no end time, the last frame has the duration of the preceding one.
    @Test func lastFrameHasTheDurationOfThePrecedingOne() async throws {
        let scratch = try Scratch()
        let (writer, input, adaptor, url) = try await writer(in: scratch)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in [0, 100, 300] {
            try adaptor.append(
                adaptor.pixelBufferPool.makeBuffer(), at: MediaTime(value: Int64(time), timescale: 1000))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        #expect(try await Asset(url: url).load(.duration) == MediaTime(value: 500, timescale: 1000))
    }

    /// Gray in any pixel format is preserved, within the precision of eight bits and a lossy codec.
    @Test(arguments: ["yuv420p", "nv12", "gray", "rgb24", "bgra", "yuv444p", "yuv420p10le", "gbrp"])
    func grayIsPreservedFromAnyPixelFormat(_ name: String) async throws {
        let scratch = try Scratch()
        let format = try #require(PixelFormat(named: name))
        let (writer, input, adaptor, url) = try await writer(in: scratch, format: format)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for number in 0..<5 {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            for plane in 0..<buffer.planeCount {
                try buffer.withMutablePlane(plane) { bytes, layout in
                    for row in 0..<layout.rows {
                        for column in 0..<layout.rowSize {
                            let offset = row * layout.bytesPerRow + column
                            if name == "yuv420p10le" {
                                // 10 bits, little-endian: 504 corresponds to 126 in 8 bits, and 512 is neutral chroma.
                                let value = plane == 0 ? 504 : 512
                                bytes[offset] = UInt8(column.isMultiple(of: 2) ? value & 255 : value >> 8)
                            } else if format.isRGB || name == "gray" {
                                bytes[offset] = 128
                            } else {
                                bytes[offset] = plane == 0 ? 126 : 128
                            }
                        }
                    }
                }
            }
            try adaptor.append(buffer, at: MediaTime(value: Int64(number), timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let pixels = try rawFrame(of: url, at: 2)
        #expect(pixels.count == 64 * 48 * 3)
        #expect(pixels.allSatisfy { abs(Int($0) - 128) <= 3 }, "\(pixels.prefix(6))")
    }

    @Test func wrongTimesAndStatesThrow() async throws {
        let scratch = try Scratch()
        let (writer, input, adaptor, _) = try await writer(in: scratch)
        let pool = adaptor.pixelBufferPool
        #expect(throws: MediaError.self) { try adaptor.append(pool.makeBuffer(), at: .zero) }
        try writer.startWriting()
        #expect(throws: MediaError.self) { try adaptor.append(pool.makeBuffer(), at: .zero) }
        try writer.startSession(atSourceTime: .zero)
        try adaptor.append(pool.makeBuffer(), at: MediaTime(value: 1, timescale: 1))
        #expect(throws: MediaError.self) {
            try adaptor.append(pool.makeBuffer(), at: MediaTime(value: 1, timescale: 1))
        }
        #expect(throws: MediaError.self) { try adaptor.append(pool.makeBuffer(), at: .zero) }
        // A buffer of another size is scaled.
        try adaptor.append(
            PixelBuffer(pixelFormat: .yuv420p, width: 32, height: 32), at: MediaTime(value: 2, timescale: 1))
        #expect(throws: MediaError.self) { _ = try AssetWriterInputPixelBufferAdaptor(input: input) }
        let used = try pool.makeBuffer()
        try adaptor.append(used, at: MediaTime(value: 3, timescale: 1))
        #expect(throws: MediaError.self) { try used.withMutablePlane(0) { bytes, _ in bytes[0] = 1 } }
        try input.markAsFinished()
        #expect(throws: MediaError.self) { try input.markAsFinished() }
        #expect(throws: MediaError.self) {
            try adaptor.append(pool.makeBuffer(), at: MediaTime(value: 9, timescale: 1))
        }
        writer.cancelWriting()
        #expect(scratch.contents.isEmpty)
    }

    /// Real-time input doesn't block while the encoder is behind: surplus frames are dropped and counted, and the file
    /// is complete.
    @Test func realTimeInputDropsFramesInsteadOfBlocking() async throws {
        let scratch = try Scratch()
        let settings = try await OutputSettingsAssistant.videoSettings(
            preset: .hevcHighest, size: PixelSize(width: 1920, height: 1080), frameRate: Rational(25, 1))
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: settings)
        input.expectsMediaDataInRealTime = true
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let buffer = try adaptor.pixelBufferPool.makeBuffer()
        for number in 0..<60 {
            try adaptor.append(buffer, at: MediaTime(value: Int64(number), timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        #expect(input.droppedSamples > 0)
        #expect(try FFmpegFile(url.path).frames().times.count == 60 - input.droppedSamples)
    }

    /// A session appends to a real-time input only while it is ready, so nothing is dropped and the session completes.
    @Test func realTimeInputOfASessionDropsNothing() async throws {
        let scratch = try Scratch()
        let asset = Asset(url: try await ArticleTests.movie(in: scratch))
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let session = ReencodeSession(
            reader: try AssetReader(asset: asset), writer: try AssetWriter(url: url, container: .mp4))
        for track in try await OutputSettingsAssistant(preset: .hevcHighest, asset: asset).tracks {
            let input = track.makeInput()
            input.expectsMediaDataInRealTime = true
            try session.addTrack(output: track.makeOutput(), input: input)
        }
        guard case .completed = await session.run() else {
            Issue.record("the session isn't completed")
            return
        }
        #expect(session.writer.inputs.allSatisfy { $0.droppedSamples == 0 })
        #expect(try FFmpegFile(url.path).frames().times.count == 50)
    }

    /// A rejected sample doesn't end a real-time recording, and the last frame is written.
    @Test func rejectedSampleDoesntEndTheRecording() async throws {
        let scratch = try Scratch()
        let (writer, input, adaptor, url) = try await writer(in: scratch)
        input.expectsMediaDataInRealTime = true
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        var refusals = 0
        for number in 0..<5 {
            if number == 2 {
                let wrong = try PixelBuffer(
                    pixelFormat: #require(PixelFormat(named: "uyyvyy411")), width: 64, height: 48)
                try input.append(
                    SampleBuffer(pixelBuffer: wrong, pts: 95, duration: 1, timeBase: Rational(1, 1000)))
                while input.droppedSamples == 0 { await Task.yield() }
            }
            do {
                try adaptor.append(
                    adaptor.pixelBufferPool.makeBuffer(),
                    at: MediaTime(value: Int64(number * 100), timescale: 1000))
            } catch {
                refusals += 1
            }
        }
        try writer.endSession(atSourceTime: MediaTime(value: 1, timescale: 1))
        try input.markAsFinished()
        try await writer.finishWriting()
        #expect(refusals == 1)
        #expect(try await Asset(url: url).load(.duration) == MediaTime(value: 1, timescale: 1))
        #expect(try FFmpegFile(url.path).frames().times.last == 0.4)
    }

    /// A buffer that can't be converted is rejected when it is appended, stays writable, and doesn't affect others.
    @Test(arguments: [false, true]) func unconvertibleBufferIsRejectedAtOnce(_ isLive: Bool) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
        try writer.add(input)
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input)
        input.expectsMediaDataInRealTime = isLive
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let format = try #require(PixelFormat(named: "uyyvyy411"))
        let wrong = try PixelBuffer(pixelFormat: format, width: 64, height: 48)
        for time in 0..<3 {
            do {
                try adaptor.append(wrong, at: MediaTime(value: Int64(time), timescale: 25))
                Issue.record("uyyvyy411 was accepted")
            } catch MediaError.unsupportedConversion(_, let from, let to, _) {
                #expect(from.contains("uyyvyy411") && to.contains("64x48 in yuv420p"))
            }
            try wrong.withMutablePlane(0) { bytes, _ in bytes[0] = 1 }
            try adaptor.append(
                adaptor.pixelBufferPool.makeBuffer(), at: MediaTime(value: Int64(time), timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        #expect(try FFmpegFile(url.path).frames().times == [0, 0.04, 0.08])
    }

    /// A buffer that was rejected, or written as a still image, remains writable.
    @Test func rejectedBuffersStayWritable() async throws {
        let scratch = try Scratch()
        let (writer, _, adaptor, _) = try await writer(in: scratch)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let buffer = try adaptor.pixelBufferPool.makeBuffer()
        try fill(buffer, 100)
        try buffer.write(to: URL(fileURLWithPath: scratch.file("a.png")))
        try fill(buffer, 120)
        try adaptor.append(adaptor.pixelBufferPool.makeBuffer(), at: MediaTime(value: 1, timescale: 1))
        #expect(throws: MediaError.self) { try adaptor.append(buffer, at: .zero) }
        try fill(buffer, 140)
        writer.cancelWriting()
        #expect(scratch.contents == ["a.png"])
    }

    /// Full-range frames in the encoder's pixel format are converted to its range.
    @Test func fullRangeIsConverted() async throws {
        let scratch = try Scratch()
        let (writer, input, adaptor, url) = try await writer(
            in: scratch, format: PixelFormat(named: "yuvj420p"))
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for number in 0..<3 {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            try fill(buffer, 250)
            try adaptor.append(buffer, at: MediaTime(value: Int64(number), timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let pixels = try rawFrame(of: url, at: 1)
        #expect(pixels.allSatisfy { abs(Int($0) - 250) <= 3 }, "\(pixels.prefix(6))")
    }

    /// Gaps between appended audio are filled with silence; audio that starts before the end of the last one is
    /// rejected.
    @Test func gapsInAudioAreSilent() async throws {
        let scratch = try Scratch()
        let (writer, input, url) = try flacWriter(in: scratch, .mono)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let run = [Float](repeating: 0.25, count: 4800)
        for time in [0, 1] {
            try input.append(
                SampleBuffer(
                    audio: run, layout: .mono, sampleRate: 48_000,
                    at: MediaTime(value: Int64(time), timescale: 1)))
        }
        #expect(throws: MediaError.self) {
            try input.append(SampleBuffer(audio: run, layout: .mono, sampleRate: 48_000, at: .zero))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let samples = try FFmpegFile(url.path).samples(channels: 1, rate: 48_000)
        #expect(samples.count == 52_800)
        #expect(
            abs(samples[100] - 0.25) < 0.001 && abs(samples[20_000]) < 0.001
                && abs(samples[50_000] - 0.25) < 0.001)
    }

    /// Audio samples and packets that a program creates, with their format description, are written.
    @Test func createdAudioSamplesAndPacketsAreWritten() async throws {
        let scratch = try Scratch()
        let (writer, input, url) = try flacWriter(in: scratch, .stereo)
        #expect(writer.canAdd(input))
        try writer.add(input)
        #expect(!writer.canAdd(input))
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let wave = (0..<48_000).map { Float(sin(Double($0) * 0.05)) * 0.5 }
        let both = wave.flatMap { [$0, -$0] }
        for start in stride(from: 0, to: 48_000, by: 1000) {
            try input.append(
                SampleBuffer(
                    audio: Array(both[start * 2..<(start + 1000) * 2]), layout: .stereo, sampleRate: 48_000,
                    at: MediaTime(value: Int64(start), timescale: 48_000)))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let samples = try FFmpegFile(url.path).samples(channels: 2, rate: 48_000)
        #expect(samples.count == 96_000)
        #expect(zip(samples, both).allSatisfy { abs($0 - $1) < 0.0001 })

        // PCM packets with a format description that the program creates.
        let format = try FormatDescription.audio(
            codec: "pcm_s16le", sampleRate: 48_000, layout: .mono, sampleFormat: .s16)
        let copy = URL(fileURLWithPath: scratch.file("o.wav"))
        let copier = try AssetWriter(url: copy, container: .wav)
        let packets = AssetWriterInput(
            mediaType: .audio, settings: .passthrough(format, timeBase: Rational(1, 48_000)))
        try copier.add(packets)
        try copier.startWriting()
        try copier.startSession(atSourceTime: .zero)
        for number in 0..<10 {
            try packets.append(
                SampleBuffer(
                    data: [UInt8](repeating: UInt8(number), count: 4800 * 2),
                    at: MediaTime(value: Int64(number), timescale: 10),
                    duration: MediaTime(value: 1, timescale: 10),
                    isKey: true, timeBase: Rational(1, 48_000)))
        }
        try packets.markAsFinished()
        try await copier.finishWriting()
        let written = try FFmpegFile(copy.path).samples(channels: 1, rate: 48_000)
        #expect(written.count == 48_000)
        #expect(abs(written[4800 * 3 + 5] - Float(3 * 256 + 3) / 32_768) < 0.0001)
    }
}
