import Foundation
import TandemKit
import TestSupport
import Testing

/// Typed access to samples and pixels, queues of samples, and asynchronous reading.
@Suite struct SampleAccessTests {
    private static let pattern = TestPattern(
        name: "testsrc", width: 66, height: 50, frameRate: Rational(25, 1),
        duration: MediaTime(value: 2, timescale: 1), toneFrequency: 440)
    private static var asset: Asset { Asset(.pattern(pattern), environment: MediaEnvironment()) }

    private func output(_ settings: ReaderOutputSettings) async throws -> (AssetReader, AssetReaderOutput) {
        let asset = Self.asset
        let reader = try await AssetReader(loading: asset)
        let type: MediaType = if case .audio = settings { .audio } else { .video }
        let track = try #require(try await asset.loadTracks(withMediaType: type).first)
        let output = AssetReaderTrackOutput(track: track, settings: settings)
        try reader.add(output)
        try await reader.start()
        return (reader, output)
    }

    private func sample(of output: AssetReaderOutput) async throws -> SampleBuffer {
        guard let sample = try await output.next() else { throw MediaError.noSamples(track: .part(.video)) }
        return sample
    }

    // MARK: PCM

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch {
            #expect(ErrorKind(error) == .invalidArgument)
            return "\(error)"
        }
    }

    /// Samples are accessible in their own type only, whether they are interleaved or planar.
    @Test func samplesHaveTheirType() async throws {
        for name in ["s16", "s16p", "flt", "fltp", "dbl", "s32p", "u8"] {
            let format = try #require(SampleFormat(named: name))
            let (_, output) = try await output(
                .audio(AudioOutputSettings(sampleFormat: format, layout: .stereo)))
            let sample = try await sample(of: output)
            #expect(sample.audioFormat?.sampleFormat == format)
            let count = sample.sampleCount
            func check<Sample: AudioSample & Equatable>(_ type: Sample.Type) throws {
                let all = try sample.interleavedSamples(of: type)
                let planes = try sample.planarSamples(of: type)
                #expect(all.count == count * 2 && planes.map(\.count) == [count, count], "\(name)")
                // A mono tone in stereo; the reduction to 8 bits adds dither.
                #expect(planes[0] == planes[1] || name == "u8", "\(name)")
                #expect(Set(planes[0].map { "\($0)" }).count > 3, "\(name)")
                #expect(stride(from: 0, to: all.count, by: 2).map { all[$0] } == planes[0], "\(name)")
                if format.isPlanar {
                    let second = try sample.withSamples(of: type, channel: 1) { $0.count }
                    #expect(second == count)
                    #expect(
                        message { _ = try sample.withSamples(of: type) { $0.count } }.contains(
                            "the 2 channels are in separate planes"), "\(name)")
                } else {
                    #expect(try sample.withSamples(of: type) { $0.count } == count * 2)
                    #expect(
                        message { _ = try sample.withSamples(of: type, channel: 1) { $0.count } }.contains(
                            "the 2 channels are interleaved"), "\(name)")
                }
                for channel in [-1, 2, .max, .min] as [Int] {
                    #expect(
                        message { _ = try sample.withSamples(of: type, channel: channel) { $0.count } }
                            .contains("`channel` is"))
                }
            }
            switch format.interleaved {
            case .s16: try check(Int16.self)
            case .float: try check(Float.self)
            case .double: try check(Double.self)
            case .s32: try check(Int32.self)
            default: try check(UInt8.self)
            }
            if format.interleaved != .float {
                #expect(
                    message { _ = try sample.withSamples(of: Float.self) { $0.count } }.contains(
                        "the samples are \(name), not Float; set the output's sample format to flt"))
            } else {
                #expect(
                    message { _ = try sample.interleavedSamples(of: Int16.self) }.contains("not Int16"))
            }
        }
        let (_, pictures) = try await output(.video(VideoOutputSettings()))
        let frame = try await sample(of: pictures)
        #expect(frame.audioFormat == nil)
        #expect(
            message { _ = try frame.withSamples(of: Float.self) { $0.count } }
                == "the sample contains no decoded audio")
    }

    /// Samples that a program creates are those that are read back, from either arrangement.
    @Test func createdSamplesAreReadBack() throws {
        let left: [Int16] = [1, 2, 3, -32_768]
        let right: [Int16] = [5, 6, 7, 32_767]
        let planar = try SampleBuffer(
            planar: [left, right], layout: .stereo, sampleRate: 48_000, at: .zero)
        let mixed = try SampleBuffer(
            interleaved: [1, 5, 2, 6, 3, 7, -32_768, 32_767] as [Int16], layout: .stereo,
            sampleRate: 48_000, at: .zero)
        let expected = [left, right]
        #expect(try planar.planarSamples(of: Int16.self) == expected)
        #expect(try mixed.planarSamples(of: Int16.self) == expected)
        let doubles = try SampleBuffer(
            interleaved: [0.5, -0.25] as [Double], layout: .mono, sampleRate: 8000,
            at: MediaTime(seconds: 1))
        #expect(doubles.presentationTime == MediaTime(value: 1, timescale: 1))
        #expect(try doubles.interleavedSamples(of: Double.self) == [0.5, -0.25])
        for channels in [[], [left], [left, [1]], [left, right, left], [[], []]] as [[[Int16]]] {
            #expect(throws: MediaError.self) {
                _ = try SampleBuffer(planar: channels, layout: .stereo, sampleRate: 48_000, at: .zero)
            }
        }
        for rate in [0, -1, .min] as [Int32] {
            #expect(throws: MediaError.self) {
                _ = try SampleBuffer(interleaved: left, layout: .stereo, sampleRate: rate, at: .zero)
            }
        }
        #expect(throws: MediaError.self) {
            _ = try SampleBuffer(
                interleaved: [1, 2, 3] as [Float], layout: .stereo, sampleRate: 48_000, at: .zero)
        }
    }

    /// Times of samples are exact as media times, in any combination of timescales.
    @Test func samplesHaveMediaTimes() throws {
        let buffer = try PixelBuffer(pixelFormat: .gray, width: 16, height: 16)
        let times = [
            (MediaTime(value: 1001, timescale: 30_000), MediaTime(value: 1, timescale: 25)),
            (MediaTime(value: -7, timescale: 600), .zero),
            (MediaTime(value: 5, timescale: 1), MediaTime(value: 1, timescale: 90_000)),
        ]
        for (time, duration) in times {
            let sample = try SampleBuffer(pixelBuffer: buffer, at: time, duration: duration)
            #expect(sample.presentationTime == time && sample.decodingTime == time)
            #expect(sample.presentationDuration == duration)
        }
        #expect(throws: MediaError.self) {
            _ = try SampleBuffer(
                pixelBuffer: buffer, at: .zero, duration: MediaTime(value: -1, timescale: 25))
        }
        let packet = try SampleBuffer(
            data: [1], at: MediaTime(seconds: 2), duration: MediaTime(seconds: 0.5), isKey: true,
            timeBase: Rational(1, 1000))
        #expect(packet.decodingTime == MediaTime(value: 2, timescale: 1))
        #expect(packet.presentationDuration == MediaTime(value: 1, timescale: 2))
    }

    // MARK: Planes

    /// Rows have the components of all pixels and no padding; another type is an error.
    @Test func rowsContainAllComponentsWithoutPadding() async throws {
        let formats: [(String, plane: Int, bytes: Int, perRow: Int, rows: Int)] = [
            ("yuv420p", 0, 1, 66, 50), ("yuv420p", 1, 1, 33, 25), ("nv12", 1, 1, 66, 25),
            ("rgb24", 0, 1, 198, 50), ("gray", 0, 1, 66, 50), ("yuv420p10le", 2, 2, 33, 25),
            ("p010le", 0, 2, 66, 50), ("rgb48le", 0, 2, 198, 50), ("gbrpf32le", 0, 4, 66, 50),
        ]
        for (name, plane, bytes, perRow, rows) in formats {
            let format = try #require(PixelFormat(named: name))
            let buffer = try PixelBuffer(pixelFormat: format, width: 66, height: 50)
            #expect(try buffer.layout(ofPlane: plane).rows == rows)
            func check<Component: PixelComponent>(_ type: Component.Type, _ value: Component) throws {
                try buffer.withMutableRows(ofPlane: plane, as: type) { _, row in
                    #expect(row.count == perRow, "\(name)")
                    for column in row.indices { row[column] = value }
                }
                var seen = 0
                try buffer.withRows(ofPlane: plane, as: type) { row, components in
                    #expect(row == seen && components.count == perRow, "\(name)")
                    seen += 1
                }
                #expect(seen == rows)
                #expect(try buffer.components(ofPlane: plane, as: type).count == rows * perRow)
            }
            if bytes == 1 { try check(UInt8.self, 77) }
            if bytes == 2 { try check(UInt16.self, 777) }
            if bytes == 4 { try check(Float.self, 0.25) }
            if bytes != 1 {
                #expect(
                    message { try buffer.withRows(ofPlane: plane, as: UInt8.self) { _, _ in } }.contains(
                        "not UInt8"))
            } else {
                #expect(
                    message { try buffer.withRows(ofPlane: plane, as: Float.self) { _, _ in } }.contains(
                        "are UInt8, not Float"))
            }
            for index in [-1, 4, .max, .min] as [Int] {
                #expect(throws: MediaError.self) { _ = try buffer.layout(ofPlane: index) }
            }
        }
        for name in ["rgb565le", "yuv420p10be", "x2rgb10le"] {
            let buffer = try PixelBuffer(
                pixelFormat: try #require(PixelFormat(named: name)), width: 66, height: 50)
            #expect(
                message { try buffer.withRows(ofPlane: 0, as: UInt16.self) { _, _ in } }.contains(
                    "no separate components"), "\(name)")
        }
    }

    /// Pixels of a decoded frame are those that ffmpeg decodes, stay valid after the sample, and are read-only.
    @Test func decodedFramesHaveTheirPixels() async throws {
        let scratch = try Scratch()
        let url = try await ArticleTests.movie(in: scratch)
        let reader = try await AssetReader(loading: Asset(url: url))
        let track = try #require(try await reader.asset.loadTracks(withMediaType: .video).first)
        let output = AssetReaderTrackOutput(
            track: track, settings: .video(VideoOutputSettings(pixelFormat: .rgb24)))
        try reader.add(output)
        try await reader.start()
        var image: PixelBuffer?
        var number = 0
        while let sample = try await output.next() {
            if number == 20 { image = try sample.pixelBuffer() }
            number += 1
        }
        #expect(number == 50)
        let kept = try #require(image)
        let expected = try rawFrame(of: url, at: 20)
        let own = try kept.components(ofPlane: 0, as: UInt8.self)
        #expect(own.count == expected.count)
        // Scalers of two versions round differently.
        #expect(zip(own, expected).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
        #expect(throws: MediaError.self) {
            try kept.withMutableRows(ofPlane: 0, as: UInt8.self) { _, _ in }
        }
    }

    // MARK: Queues

    @Test func queuesPassSamplesOn() async throws {
        let (_, output) = try await output(.video(VideoOutputSettings(pixelFormat: .gray)))
        let queue = SampleBufferQueue()
        #expect(queue.popFirst() == nil && queue.isEmpty)
        #expect(queue.withFirst { $0.pts } == nil)
        var bytes = 0
        for _ in 0..<5 {
            let sample = try await sample(of: output)
            bytes += sample.byteCount
            queue.append(try sample.reference())
            queue.append(sample)
        }
        #expect(queue.count == 10 && queue.byteCount == bytes * 2 && bytes == 5 * 66 * 50)
        let first = try #require(queue.withFirst { $0.presentationTime })
        #expect(first == .zero && queue.count == 10)
        var times: [MediaTime] = []
        while let sample = queue.popFirst() {
            times.append(sample.presentationTime)
            if times.count == 8 { queue.removeAll() }
        }
        #expect(times == (0..<8).map { MediaTime(value: $0 / 2, timescale: 25) })
        #expect(queue.byteCount == 0)
    }

    /// A reference has the data and the times of its original, and is independent of it.
    @Test func referencesShareTheirData() async throws {
        let (_, output) = try await output(.video(VideoOutputSettings(pixelFormat: .gray)))
        _ = try await output.next()
        var sample = try await sample(of: output)
        sample.dts = 7
        let copy = try sample.reference()
        let image = try sample.pixelBuffer()
        #expect(copy.pts == sample.pts && copy.dts == 7 && copy.duration == sample.duration)
        let same = try copy.pixelBuffer().withPlane(0) { bytes, _ in bytes.baseAddress }
        #expect(try image.withPlane(0) { bytes, _ in bytes.baseAddress } == same)
        let packet = try SampleBuffer(
            data: [1, 2, 3], at: .zero, duration: .zero, isKey: true, timeBase: Rational(1, 25))
        let reference = try packet.reference()
        #expect(reference.isKeyframe && !reference.isHidden)
        #expect(reference.withData { Array($0) } == [1, 2, 3])
        #expect(copy.withData { $0.count } == nil)
    }

    // MARK: Loading and asynchronous reading

    @Test func propertiesLoadTogether() async throws {
        let asset = Self.asset
        let (duration, tracks, chapters, metadata) = try await asset.load(
            .duration, .tracks, .chapters, .metadata)
        #expect(duration == MediaTime(value: 2, timescale: 1) && tracks.count == 2)
        #expect(chapters.isEmpty && metadata.isEmpty)
        let (again, _) = try await asset.load(.duration, .contents)
        #expect(again == duration)
        #expect(try await asset.loadTracks(withMediaType: .audio).map(\.index) == [tracks[1].index])
        #expect(try await asset.loadTracks(withMediaType: .subtitle).isEmpty)
        #expect(try await asset.loadTracks(withMediaCharacteristic: .visual).count == 1)
        #expect(try await asset.loadTrack(withTrackID: .max) == nil)
        let missing = Asset(url: URL(fileURLWithPath: "/nonexistent/x.mp4"))
        await #expect(throws: InputError.self) { _ = try await missing.load(.duration, .tracks) }
        await #expect(throws: InputError.self) { _ = try await missing.loadTracks(withMediaType: .video) }
        await #expect(throws: InputError.self) { _ = try await AssetReader(loading: missing) }
    }

    /// `next` vends the samples of `copyNextSampleBuffer`, and throws before the start.
    @Test func asynchronousReadingVendsEverySample() async throws {
        let asset = Self.asset
        for track in try await asset.load(.tracks) {
            let reader = try await AssetReader(loading: asset)
            let own = AssetReaderTrackOutput(
                track: track,
                settings: track.mediaType == .video
                    ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings()))
            try reader.add(own)
            await #expect(throws: MediaError.self) { _ = try await own.next() == nil }
            try await reader.start()
            var samples = 0
            var last = MediaTime(value: -1, timescale: 1)
            while let sample = try await own.next() {
                #expect(sample.presentationTime > last)
                last = sample.presentationTime
                samples += sample.sampleCount
            }
            #expect(samples == (track.mediaType == .video ? 50 : 96_000))
            #expect(reader.status == .completed)
            await #expect(throws: MediaError.self) { try await reader.start() }
        }
    }

    /// A cancelled task ends reading with `CancellationError`.
    @Test func cancelledTasksEndReading() async throws {
        let (reader, output) = try await output(.video(VideoOutputSettings()))
        let (firstSample, continuation) = AsyncStream<Void>.makeStream()
        let task = Task { () -> Bool in
            guard try await output.next() != nil else { return false }
            continuation.yield()
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            return try await output.next() != nil
        }
        for await _ in firstSample { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        // The output has ended for all callers.
        #expect(try output.copyNextSampleBuffer() == nil)
        reader.cancelReading()
    }

    /// Loading many files at once doesn't occupy the threads of Swift's pool: another task resumes before any of them ends.
    @Test func loadingDoesNotBlockOtherTasks() async throws {
        let scratch = try Scratch()
        let url = try await ArticleTests.endlessMovie(in: scratch)
        let (ends, continuation) = AsyncStream<String>.makeStream()
        let readers = Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 + 2 {
                    group.addTask {
                        // A precise asset is read to its end.
                        _ = try? await AssetReader(loading: Asset(url: url, timing: .precise))
                        continuation.yield("a reader")
                    }
                }
            }
        }
        let other = Task {
            try? await Task.sleep(for: .milliseconds(20))
            continuation.yield("the other task")
        }
        let first = await ends.first { _ in true }
        readers.cancel()
        await readers.value
        await other.value
        #expect(first == "the other task")
    }
}
