import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

/// Programs written for AVFoundation and ported to the library, with orders of calls and values that jobs don't use.
@Suite struct PortedProgramTests {
    // MARK: Copied ranges

    private static let containers: [(ContainerType, hides: Bool)] = [
        (.mp4, true), (.mov, true), (.matroska, false), (.transportStream, false),
    ]

    /// A copied range contains all its frames at their times; frames from the keyframe before the range on are hidden.
    /// Containers without edit lists are rejected.
    @Test(arguments: containers, [(308, 400), (304, 400), (120, 130), (500, 560), (0, 100)])
    func copiedRangeHasItsBeginning(
        _ target: (container: ContainerType, hides: Bool), _ range: (start: Int64, end: Int64)
    ) async throws {
        guard let media = TestPaths.media else { return }
        let scratch = try Scratch()
        let source = URL(fileURLWithPath: media + "/bikes.mp4")
        let url = URL(fileURLWithPath: scratch.file("o." + target.container.extensions[0]))
        let asset = Asset(url: source)
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .video })
        let reader = try AssetReader(asset: asset)
        reader.timeRange = TimeRange(
            start: MediaTime(value: range.start, timescale: 100),
            end: MediaTime(value: range.end, timescale: 100))
        let session = ReencodeSession(
            reader: reader, writer: try AssetWriter(url: url, container: target.container))
        try session.addTrack(
            output: AssetReaderTrackOutput(track: track),
            input: AssetWriterInput(
                mediaType: .video, settings: .passthrough(track.format, timeBase: track.timeBase)))
        // The other ranges start between keyframes, or end where frames refer to later ones.
        let isSimple = range == (0, 100)
        switch await session.run() {
        case .failed(let error):
            #expect(!isSimple && !target.hides, "\(error)")
            let message = "\(error)"
            let isNamed = message.contains("the keyframe at") || message.contains("refer to later ones")
            #expect(isNamed, "\(error)")
            #expect(scratch.contents.isEmpty)
        case .cancelled: Issue.record("the session was cancelled")
        case .completed:
            #expect(isSimple || target.hides)
            let (first, count) = (Int(range.start) / 4, (Int(range.end - range.start) + 3) / 4)
            let file = FFmpegFile(url.path)
            // The mov demuxer drops hidden frames.
            let times = try file.frames().times
            #expect(times.count == count, "\(times.count) of \(count)")
            #expect(
                zip(times, 0..<count).allSatisfy { abs($0 - Double($1) / 25) < 0.002 }, "\(times.prefix(4))")
            let psnr = try file.lowestPSNR(
                against: FFmpegFile(source.path), first: first, count: count, own: 0)
            #expect(psnr == 100)
        }
    }

    /// An export session that copies the same range has the same result.
    @Test(arguments: [(308, 400), (500, 560)]) func exportedCopiesHaveTheirBeginning(
        _ start: Int64, _ end: Int64
    ) async throws {
        guard let media = TestPaths.media else { return }
        let scratch = try Scratch()
        let source = media + "/bikes.mp4"
        for name in ["mp4", "mkv"] {
            let session = ExportSession(asset: Asset(url: URL(fileURLWithPath: source)), preset: .passthrough)
            session.timeRange = TimeRange(
                start: MediaTime(value: start, timescale: 100), end: MediaTime(value: end, timescale: 100))
            let url = URL(fileURLWithPath: scratch.file("o." + name))
            if name == "mkv" {
                await #expect(throws: ExportError.self) { try await session.export(to: url) }
                continue
            }
            try await session.export(to: url)
            let count = Int(end - start) / 4
            #expect(try FFmpegFile(url.path).frames().times.count == count)
            let psnr = try FFmpegFile(url.path).lowestPSNR(
                against: FFmpegFile(source), first: Int(start) / 4, count: count, own: 0)
            #expect(psnr == 100)
        }
    }

    /// Packets read from any position on are decodable, because they start at the preceding keyframe.
    @Test(arguments: [1, 40, 70, 75, 76, 200]) func resumedPacketsBeginAtTheKeyframeBefore(_ frame: Int64)
        async throws
    {
        guard let media = TestPaths.media else { return }
        let asset = Asset(url: URL(fileURLWithPath: media + "/bikes.mp4"))
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .video })
        let start = MediaTime(value: frame, timescale: 25)
        let reader = try AssetReader(asset: asset)
        reader.timeRange = TimeRange(start: start, end: track.timeRange.end)
        let output = AssetReaderTrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        var (presented, first, isFirstKey) = (0, MediaTime?.none, false)
        while let sample = try output.copyNextSampleBuffer() {
            let isHidden = sample.withPacket { $0.isDiscarded } ?? false
            if first == nil {
                first = sample.presentationTime
                isFirstKey = sample.withPacket { $0.isKey } ?? false
            }
            #expect(isHidden == (sample.presentationTime < start))
            if !isHidden { presented += 1 }
        }
        let keys: [Int64] = [0, 30, 76, 137, 187, 242]
        #expect(isFirstKey)
        #expect(first == keys.last { $0 <= frame }.map { MediaTime(value: $0, timescale: 25) })
        #expect(presented == 250 - Int(frame))
    }

    // MARK: Order of calls

    private func settings(_ width: Int = 64, _ height: Int = 48, _ unit: Int32 = 25) -> EncoderConfiguration {
        var settings = EncoderConfiguration(
            encoder: "libx264", mediaType: .video, timeBase: Rational(1, unit))
        (settings.width, settings.height, settings.pixelFormat) = (width, height, .yuv420p)
        settings.options = [MetadataEntry(key: "preset", value: "ultrafast")]
        return settings
    }

    private func audioSettings(_ encoder: String = "aac", _ format: SampleFormat = .planarFloat)
        -> EncoderConfiguration
    {
        var settings = EncoderConfiguration(
            encoder: encoder, mediaType: .audio, timeBase: Rational(1, 48_000))
        (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (48_000, format, .mono)
        return settings
    }

    private func frame(_ time: Int64, _ width: Int = 64, _ height: Int = 48) throws -> SampleBuffer {
        let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: width, height: height)
        for plane in 0..<3 {
            try buffer.withMutablePlane(plane) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = 128 }
            }
        }
        return SampleBuffer(frame: try buffer.makeFrame(), pts: time, duration: 1, timeBase: Rational(1, 25))
    }

    private func audio(at time: MediaTime, count: Int = 1024) throws -> SampleBuffer {
        try SampleBuffer(
            audio: [Float](repeating: 0.1, count: count), layout: .mono, sampleRate: 48_000, at: time)
    }

    enum Moment: CaseIterable { case beforeAdding, beforeStarting, beforeTheSession, later }

    /// A request for samples takes effect once the session starts, even if it precedes the session.
    @Test(.timeLimit(.minutes(15)), arguments: Moment.allCases) func requestsAreFulfilled(_ moment: Moment)
        async throws
    {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: .encode(settings()))
        let (calls, continuation) = AsyncStream<String>.makeStream()
        final class Counter: @unchecked Sendable { var value: Int64 = 0 }
        let counter = Counter()
        func request() {
            input.requestMediaDataWhenReady(on: DispatchQueue(label: "test")) { @Sendable in
                do {
                    while input.isReadyForMoreMediaData {
                        if counter.value == 10 {
                            try input.markAsFinished()
                            continuation.yield("done")
                            return
                        }
                        try input.append(frame(counter.value))
                        counter.value += 1
                    }
                } catch {
                    continuation.yield("\(error)")
                }
            }
        }
        if moment == .beforeAdding { request() }
        try writer.add(input)
        if moment == .beforeStarting { request() }
        try writer.startWriting()
        if moment == .beforeTheSession { request() }
        #expect(!input.isReadyForMoreMediaData)
        try writer.startSession(atSourceTime: .zero)
        if moment == .later { request() }
        #expect(await calls.first { _ in true } == "done")
        try await writer.finishWriting()
        #expect(try FFmpegFile(url.path).frames().times.count == 10)
    }

    /// A writer that is cancelled, or that can't start, calls the blocks of earlier requests.
    @Test(.timeLimit(.minutes(15)), arguments: [true, false]) func requestsAreFulfilledAtTheEnd(
        _ isCancelled: Bool
    ) async throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
        var wrong = settings()
        wrong.encoder = "no-such-encoder"
        let input = AssetWriterInput(mediaType: .video, settings: .encode(wrong))
        let (calls, continuation) = AsyncStream<Bool>.makeStream()
        input.requestMediaDataWhenReady(on: DispatchQueue(label: "test")) { @Sendable in
            continuation.yield(true)
        }
        try writer.add(input)
        if isCancelled {
            writer.cancelWriting()
        } else {
            #expect(throws: MediaError.self) { try writer.startWriting() }
        }
        #expect(await calls.first { _ in true } == true)
    }

    // MARK: Refused samples

    /// A rejected sample has no effect: the correct sample at the same time is accepted. The message describes both.
    @Test(arguments: 0..<7) func refusedSamplesChangeNothing(_ number: Int) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let video = AssetWriterInput(mediaType: .video, settings: .encode(settings()))
        let sound = AssetWriterInput(mediaType: .audio, settings: .encode(audioSettings()))
        for input in [video, sound] { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> { try video.append(frame(time)) }
        try sound.append(audio(at: .zero, count: 48_000))
        let packet = try SampleBuffer(
            data: [1, 2, 3], at: MediaTime(value: 3, timescale: 25),
            duration: MediaTime(value: 1, timescale: 25),
            isKey: true, timeBase: Rational(1, 25))
        var refusal = ""
        do {
            switch number {
            case 0:
                let buffer = try PixelBuffer(
                    pixelFormat: #require(PixelFormat(named: "uyyvyy411")), width: 64, height: 48)
                try video.append(
                    SampleBuffer(
                        frame: try buffer.makeFrame(), pts: 3, duration: 1, timeBase: Rational(1, 25)))
            case 1: try video.append(packet)
            case 2: try video.append(audio(at: MediaTime(value: 3, timescale: 25)))
            case 3: try sound.append(packet)
            case 4: try sound.append(frame(25))
            case 5:
                try sound.append(
                    SampleBuffer(
                        audio: [Float](repeating: 0, count: 70), layout: ChannelLayout(defaultFor: 70),
                        sampleRate: 44_100, at: MediaTime(value: 1, timescale: 1)))
            default: try video.append(frame(2))
            }
        } catch {
            refusal = "\(error)"
        }
        let expected = [
            "video 0 requires 64x48 in yuv420p; a frame of 64x48 in uyyvyy411 was appended, which can't be converted",
            "video 0 requires frames of 64x48; a packet was appended",
            "video 0 requires frames of 64x48; audio of 48000 Hz and 1 channels was appended",
            "audio 1 requires audio of 48000 Hz and 1 channels; a packet was appended",
            "audio 1 requires audio of 48000 Hz and 1 channels; a frame of 64x48 was appended",
            "audio 1 requires audio of 48000 Hz and 1 channels in fltp; audio of 44100 Hz and 70 channels in flt was appended, which can't be converted",
            "frame times must increase in units of 1/25 s: a frame at 0.08 s of the output follows one at 0.08 s",
        ]
        // The library's message may follow.
        #expect(refusal.hasPrefix(expected[number]), "\(refusal)")
        #expect(writer.status == .working)
        #expect(video.appendedSamples == 3 && sound.appendedSamples == 48_000)
        try video.append(frame(3))
        try sound.append(audio(at: MediaTime(value: 1, timescale: 1), count: 4800))
        try writer.endSession(atSourceTime: MediaTime(value: 55, timescale: 50))
        for input in [video, sound] { try input.markAsFinished() }
        try await writer.finishWriting()
        let file = FFmpegFile(url.path)
        #expect(try file.frames().times.count == 4)
        #expect(try file.editDurations().compactMap { $0?.media }.last.map { abs($0 - 1.1) < 0.001 } == true)
    }

    /// Samples without a valid time are rejected with a message that names the track.
    @Test func samplesWithoutATimeAreRefused() throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
        let video = AssetWriterInput(mediaType: .video, settings: .encode(settings()))
        try writer.add(video)
        try writer.startWriting()
        try writer.startSession(atSourceTime: MediaTime(value: -7, timescale: 1))
        func check(_ change: (inout SampleBuffer) -> Void) throws {
            var sample = try frame(0)
            change(&sample)
            do {
                try video.append(sample)
                Issue.record("a sample without a usable time was accepted")
            } catch is MediaError {}
        }
        for unit in [Rational(0, 1), Rational(1, 0), Rational(0, 0), Rational(-1, 25)] {
            try check { $0.timeBase = unit }
        }
        for value in [Int64.min, .min + 1, .max, .max - 1] {
            try check { $0.pts = value }
            try check { $0.duration = value }
            try check { $0.dts = value }
        }
        #expect(video.appendedSamples == 0 && writer.status == .working)
        writer.cancelWriting()
    }

    /// Audio long after the preceding audio is rejected, because the gap would be filled with years of silence.
    /// Cancelling ends the filling of a long gap.
    @Test(.timeLimit(.minutes(15)), arguments: [ContainerType.mp4, .wav, .flac], [true, false])
    func endlessSilenceIsRefused(_ container: ContainerType, _ isFirst: Bool) async throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: scratch.file("o." + container.extensions[0])), container: container)
        let settings =
            container == .mp4
            ? audioSettings() : audioSettings(container == .wav ? "pcm_s16le" : "flac", .s16)
        let input = AssetWriterInput(mediaType: .audio, settings: .encode(settings))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        if !isFirst { try input.append(audio(at: .zero)) }
        // In mp4, an edit list represents any start time.
        if !isFirst || container != .mp4 {
            for seconds in [1_000_000_000, 40_000] as [Int64] {
                let count = input.appendedSamples
                #expect(throws: MediaError.self) {
                    try input.append(audio(at: MediaTime(value: seconds, timescale: 1)))
                }
                #expect(input.appendedSamples == count)
            }
        }
        if container == .mp4, !isFirst {
            let cancel = Task {
                try await Task.sleep(for: .milliseconds(300))
                writer.cancelWriting()
            }
            try input.append(audio(at: MediaTime(value: 20_000, timescale: 1)))
            try await cancel.value
            #expect(writer.status == .cancelled)
        } else {
            try input.append(audio(at: isFirst ? .zero : MediaTime(value: 2, timescale: 1)))
            try input.markAsFinished()
            try await writer.finishWriting()
        }
    }

    // MARK: One caller for all inputs

    /// A single caller that appends to its inputs alternately, and waits until each is ready, completes.
    @Test(.timeLimit(.minutes(15)), arguments: [true, false]) func alternatingCallerCompletes(
        _ isAudioFirst: Bool
    )
        async throws
    {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let video = AssetWriterInput(mediaType: .video, settings: .encode(settings()))
        let sound = AssetWriterInput(mediaType: .audio, settings: .encode(audioSettings()))
        for input in [video, sound] { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        // One of the tracks is ahead by up to 20 s.
        let block: Int64 = isAudioFirst ? 4800 : 1024
        let length: Int64 = 40 * 48_000
        var (frames, samples) = (Int64(0), Int64(0))
        func wait(_ input: AssetWriterInput) async throws {
            while !input.isReadyForMoreMediaData { try await Task.sleep(for: .milliseconds(1)) }
        }
        var isVideoDone = false
        var isAudioDone = false
        while !isVideoDone || !isAudioDone {
            if !isVideoDone {
                try await wait(video)
                try video.append(frame(frames))
                frames += 1
                if frames == 1000 {
                    try video.markAsFinished()
                    isVideoDone = true
                }
            }
            if !isAudioDone {
                try await wait(sound)
                try sound.append(
                    audio(
                        at: MediaTime(value: samples, timescale: 48_000),
                        count: Int(min(block, length - samples))))
                samples += block
                if samples >= length {
                    try sound.markAsFinished()
                    isAudioDone = true
                }
            }
        }
        try await writer.finishWriting()
        let file = FFmpegFile(url.path)
        #expect(try file.frames().times.count == 1000)
        #expect(try file.audio(rate: 48_000).count >= Int(length))
    }

    // MARK: Settings

    /// Settings for a size that the preset would change are rejected.
    @Test(arguments: [(1920, 1080), (321, 241), (1281, 720), (64, 5000)]) func changedSizesAreRefused(
        _ width: Int, _ height: Int
    ) async throws {
        for preset in [ExportPreset.medium, .low, .h264At640x480] {
            let size = PixelSize(width: width, height: height)
            do {
                guard
                    case .encode(let settings) = try await OutputSettingsAssistant.videoSettings(
                        preset: preset, size: size, frameRate: Rational(25, 1))
                else { continue }
                #expect(settings.width == width && settings.height == height)
            } catch let error as ExportError {
                #expect(!"\(error)".isEmpty)
            }
        }
    }

    /// RGB that an adaptor's input converts to YUV is tagged with the matrix of the conversion.
    @Test(arguments: [(1280, 720, "bt709"), (320, 240, "smpte170m")], [PixelFormat.rgb24, .bgra])
    func convertedFramesAreTagged(_ size: (Int, Int, String), _ format: PixelFormat) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: .encode(settings(size.0, size.1)))
        let adaptor = try AssetWriterInputPixelBufferAdaptor(input: input, pixelFormat: format)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> {
            let buffer = try adaptor.pixelBufferPool.makeBuffer()
            try buffer.withMutablePlane(0) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = 0 }
                // A saturated green, for which the matrices result in different values.
                for offset in stride(from: 1, to: bytes.count, by: format == .bgra ? 4 : 3) {
                    bytes[offset] = 255
                }
            }
            try adaptor.append(buffer, at: MediaTime(value: time, timescale: 25))
        }
        try input.markAsFinished()
        try await writer.finishWriting()
        let stream = try FFmpegFile(url.path).stream("v:0", "color_space,color_range")
        #expect(stream["color_space"] as? String == size.2)
        #expect(stream["color_range"] as? String == "tv")
        let raw = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", url.path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
            ]
        ).output
        #expect(raw.count == size.0 * size.1 * 3)
        let pixel = [UInt8](raw.prefix(3 * 200).suffix(3))
        #expect(pixel[0] < 12 && pixel[1] > 243 && pixel[2] < 12, "\(pixel)")
    }

    /// mov stores the titles of tracks, and tags of any name.
    @Test(arguments: [false, true]) func moviesKeepTitlesAndKeys(_ isFragmented: Bool) async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mov"))
        let writer = try AssetWriter(url: url, container: .mov)
        writer.metadata = [
            MetadataEntry(key: "com.apple.quicktime.make", value: "ACME"),
            MetadataEntry(key: "com.apple.quicktime.title", value: "A title"),
            MetadataEntry(key: "title", value: "Another"), MetadataEntry(key: "x-take", value: "7"),
        ]
        if isFragmented { writer.movieFragmentInterval = MediaTime(value: 1, timescale: 1) }
        writer.shouldOptimizeForNetworkUse = !isFragmented
        let video = AssetWriterInput(mediaType: .video, settings: .encode(settings()))
        video.metadata = [MetadataEntry(key: "title", value: "Camera 1")]
        try writer.add(video)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> { try video.append(frame(time)) }
        try video.markAsFinished()
        try await writer.finishWriting()
        let probed = try FFmpegFile(url.path).probe(["-show_entries", "format_tags:stream_tags"])
        let tags = (probed["format"] as? [String: Any])?["tags"] as? [String: String] ?? [:]
        #expect(tags["com.apple.quicktime.make"] == "ACME")
        #expect(tags["com.apple.quicktime.title"] == "A title")
        #expect(tags["title"] == "Another")
        #expect(tags["x-take"] == "7")
        let stream = (probed["streams"] as? [[String: Any]])?.first?["tags"] as? [String: String] ?? [:]
        #expect(stream["handler_name"] == "Camera 1")
    }

    // MARK: Ends

    /// A range after the end of the asset contains no samples of any media type.
    @Test(arguments: ["bikes.mp4", "bigbuckbunny.mp4", "big_buck_bunny_0_30.webm", "gapless.mp3", ""])
    func rangesPastTheEndAreEmpty(_ name: String) async throws {
        guard let media = TestPaths.media else { return }
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset =
            name.isEmpty
            ? Asset(.pattern(pattern), environment: MediaEnvironment())
            : Asset(url: URL(fileURLWithPath: media + "/" + name))
        for track in try await asset.load(.tracks) where [.video, .audio].contains(track.mediaType) {
            let decoded: ReaderOutputSettings =
                track.mediaType == .video ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings())
            for settings in name.isEmpty ? [decoded] : [decoded, .passthrough] {
                let reader = try AssetReader(asset: asset)
                reader.timeRange = TimeRange(
                    start: MediaTime(value: 1_000_000, timescale: 1),
                    duration: MediaTime(value: 1, timescale: 1))
                let output = AssetReaderTrackOutput(track: track, settings: settings)
                try reader.add(output)
                try reader.startReading()
                var count = 0
                do {
                    while try output.copyNextSampleBuffer() != nil { count += 1 }
                } catch is MediaError {}
                #expect(count == 0, "\(name) \(track.mediaType) \(settings)")
            }
        }
    }

    /// A missing folder is an error of every call that writes a file, and the folder isn't created.
    @Test func missingFoldersAreErrors() async throws {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("missing/deeper/o.mp4"))
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        await #expect(throws: ExportError.self) {
            try await ExportSession(asset: asset, preset: .low).export(to: url)
        }
        #expect(throws: (any Error).self) { _ = try AssetWriter(url: url, container: .mp4) }
        #expect(throws: (any Error).self) {
            try PixelBuffer(pixelFormat: .rgb24, width: 8, height: 8)
                .write(to: url.deletingPathExtension().appendingPathExtension("png"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("missing")))
    }

    /// The measured duration of audio equals that of the samples that a decoder returns.
    @Test(arguments: ["gapless.mp3", "bear-vbr-xing-header.mp3", "bear.opus", "opus-5.1.mka"])
    func preciseDurationsCountSamples(_ name: String) async throws {
        guard let media = TestPaths.media else { return }
        let path = media + "/" + name
        let asset = Asset(url: URL(fileURLWithPath: path), timing: .precise)
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .audio })
        let rate = Int(track.format.sampleRate)
        let decoded = try FFmpegFile(path).samples(channels: 1, rate: rate).count
        let samples = track.timeRange.duration.ticks(in: Rational(1, track.format.sampleRate))
        // Matroska stores times in milliseconds.
        let tolerance = name.hasSuffix(".mka") ? rate / 500 : 0
        #expect(abs(Int(samples) - decoded) <= tolerance, "\(samples) \(decoded)")
    }

    // MARK: Cancelled tasks

    /// Cancelling the task of `load` ends it, and other callers still receive the result.
    @Test(.timeLimit(.minutes(15))) func cancelledLoadsEnd() async throws {
        let scratch = try Scratch()
        let url = try await ArticleTests.endlessMovie(in: scratch)
        let alone = Asset(url: url, timing: .precise)
        let task = Task { try await alone.load(.duration) }
        try await Task.sleep(for: .milliseconds(5))
        task.cancel()
        do {
            _ = try await task.value
        } catch {
            #expect(error is CancellationError, "\(error)")
        }
        // A later call loads the asset again.
        #expect(try await alone.load(.duration).seconds > 5900)

        let shared = Asset(url: url, timing: .precise)
        let (first, second) = (
            Task { try await shared.load(.duration) }, Task { try await shared.load(.tracks) }
        )
        try await Task.sleep(for: .milliseconds(5))
        first.cancel()
        _ = try? await first.value
        #expect(try await second.value.count == 2)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Asset(url: url).load(.duration)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }
}

/// Public calls with extreme values of numeric parameters succeed or throw, and never trap.
@Suite struct ExtremeNumberTests {
    private static let integers: [Int64] = [
        .min, .min + 1, Int64(Int32.min), -1_000_000_000, -1, 0, 1, 2, 1_000_000_000, Int64(Int32.max),
        .max - 1, .max,
    ]
    private static let scales: [Int32] = [.min, -1, 0, 1, 25, 90_000, 1_000_000_000, .max]
    private static let times = integers.flatMap { value in
        scales.map { MediaTime(value: value, timescale: $0) }
    }
    private static let ratios = scales.flatMap { num in scales.map { Rational(num, $0) } }

    @Test func timesAndRatios() {
        for a in Self.times {
            _ = (a.seconds, a.description, a.hashValue, a.bounded)
            for b in Self.times {
                _ = (a + b, a - b, a < b, a == b)
                let range = TimeRange(start: a, end: b)
                _ = (range.end, range.bounded, range.prefix(lasting: a), [range, range].prefix(lasting: b))
            }
            for ratio in Self.ratios {
                _ = (
                    a.ticks(in: ratio), a.ticks(in: ratio, rounding: .up), a.ticks(in: ratio, rounding: .down)
                )
            }
            for value in Self.integers {
                _ = (a.multiplied(by: value, dividedBy: 3), a.multiplied(by: 7, dividedBy: value))
            }
        }
        for ratio in Self.ratios {
            _ = (ratio.double, ratio.inverted, ratio.description, ratio.isPositive)
            for value in Self.integers {
                _ = MediaTime(ticks: value, timeBase: ratio)
                for other in Self.ratios { _ = ratio.rescale(value, to: other) }
            }
        }
        for seconds in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, 1e18] {
            for scale in Self.scales { _ = MediaTime(seconds: seconds, timescale: scale) }
        }
    }

    @Test func waveforms() {
        let integers = Self.integers.map { Int(clamping: $0) }
        for channels in integers {
            for count in [0, 1, 2, 3, 5, 8] {
                var data = WaveformData(sampleRate: channels, channels: channels, samplesPerPixel: channels)
                data.sampleCount = channels
                data.extremes = [Int16](repeating: .min, count: count)
                data.powers = count == 5 ? [1] : []
                _ = data.length
                for column in integers {
                    for columns in integers {
                        for channel in [Int.min, -1, 0, 1, .max] {
                            _ = data.column(column, of: columns, channel: channel)
                        }
                    }
                }
            }
        }
    }

    @Test func framesAndSamples() throws {
        for start in Self.integers {
            for count in Self.integers {
                let frame = try Frame.audio(format: .float, layout: .mono, sampleRate: 48_000, samples: 100)
                frame.narrow(start: Int(clamping: start), count: Int(clamping: count))
                #expect((0...100).contains(frame.sampleCount))
            }
        }
        for size in Self.integers.map({ Int(clamping: $0) }) {
            _ = try? PixelBuffer(pixelFormat: .rgb24, width: size, height: 2)
            _ = try? PixelBuffer(pixelFormat: .rgb24, width: 2, height: size)
            _ = try? FormatDescription.video(codec: "h264", size: PixelSize(width: size, height: size))
        }
        let buffer = try PixelBuffer(pixelFormat: .rgb24, width: 8, height: 8)
        let scratch = try Scratch()
        for quality in Self.integers {
            try? buffer.write(
                to: URL(fileURLWithPath: scratch.file("\(quality).jpg")), quality: Int(clamping: quality))
        }
        for time in Self.times {
            _ = try? SampleBuffer(audio: [0], layout: .mono, sampleRate: .max, at: time)
            for ratio in Self.ratios {
                _ = try? SampleBuffer(data: [1], at: time, duration: time, isKey: true, timeBase: ratio)
            }
        }
    }

    /// Tests the numeric properties of encoder configurations.
    @Test(arguments: ["libx264", "mjpeg", "aac", "libmp3lame", "flac"]) func encoders(_ name: String) throws {
        let scratch = try Scratch()
        let isVideo = ["libx264", "mjpeg"].contains(name)
        func attempt(_ change: (inout EncoderConfiguration) -> Void) {
            var settings = EncoderConfiguration(
                encoder: name, mediaType: isVideo ? .video : .audio,
                timeBase: Rational(1, isVideo ? 25 : 48_000))
            (settings.width, settings.height, settings.pixelFormat) = (64, 48, .yuv420p)
            (settings.sampleRate, settings.channelLayout) = (48_000, .mono)
            settings.sampleFormat = name == "flac" ? .s16 : .planarFloat
            change(&settings)
            do {
                let writer = try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("o.mkv")), container: .matroska)
                let input = AssetWriterInput(
                    mediaType: isVideo ? .video : .audio, settings: .encode(settings))
                _ = writer.canAdd(input)
                if isVideo { _ = try AssetWriterInputPixelBufferAdaptor(input: input) }
                try writer.add(input)
                defer { writer.cancelWriting() }
                try writer.startWriting()
                try writer.startSession(atSourceTime: .zero)
            } catch {}
        }
        for value in Self.integers {
            let number = Int(clamping: value)
            // Valid sizes may require gigabytes of memory.
            if value < 1 || value > Int64(Int32.max) {
                attempt { $0.width = number }
                attempt { $0.height = number }
            }
            attempt { $0.keyframeInterval = number }
            attempt { $0.bitRate = value }
            attempt { $0.maxBitRate = value }
            attempt { $0.bufferSize = value }
            attempt { $0.fixedQuantizer = number }
            attempt { $0.quality = number }
            attempt { $0.bitsPerSample = number }
            attempt { $0.level = number }
            if value < 2 { attempt { $0.threads = number } }
        }
        for ratio in Self.ratios {
            attempt { $0.timeBase = ratio }
            attempt { $0.frameRate = ratio }
            attempt { $0.sampleAspectRatio = ratio }
        }
        for rate in Self.scales { attempt { $0.sampleRate = rate } }
    }

    /// Tests the times of samples, sessions, fragments and adaptors.
    @Test(arguments: [true, false]) func writers(_ isVideo: Bool) throws {
        let scratch = try Scratch()
        var video = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: Rational(1, 25))
        (video.width, video.height, video.pixelFormat) = (64, 48, .yuv420p)
        video.options = [MetadataEntry(key: "preset", value: "ultrafast")]
        var audio = EncoderConfiguration(encoder: "aac", mediaType: .audio, timeBase: Rational(1, 48_000))
        (audio.sampleRate, audio.sampleFormat, audio.channelLayout) = (48_000, .planarFloat, .mono)
        for (number, time) in Self.times.enumerated() where number.isMultiple(of: 7) {
            let other = Self.times[(number * 7) % Self.times.count]
            do {
                let writer = try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
                defer { writer.cancelWriting() }
                let input = AssetWriterInput(
                    mediaType: isVideo ? .video : .audio, settings: .encode(isVideo ? video : audio))
                let adaptor = isVideo ? try AssetWriterInputPixelBufferAdaptor(input: input) : nil
                try writer.add(input)
                if number.isMultiple(of: 2) { writer.movieFragmentInterval = other }
                if number.isMultiple(of: 5) { writer.fileLengthLimit = other.value }
                try writer.startWriting()
                try writer.startSession(atSourceTime: time)
                if number.isMultiple(of: 4) { try? writer.endSession(atSourceTime: other) }
                for own in [time, other, .zero] {
                    if let adaptor { try? adaptor.append(adaptor.pixelBufferPool.makeBuffer(), at: own) }
                    let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: 64, height: 48)
                    if isVideo {
                        try? input.append(
                            SampleBuffer(
                                frame: buffer.makeFrame(), pts: own.value, duration: other.value,
                                timeBase: Rational(1, own.timescale)))
                    } else {
                        try? input.append(
                            SampleBuffer(audio: [0, 1], layout: .mono, sampleRate: 48_000, at: own))
                    }
                }
                _ = (input.appendedTime, input.appendedSamples)
                // A delay of many years would result in a file of many gigabytes.
            } catch {}
        }
    }

    /// Tests the ranges, rates and times of readers, generators and compositions.
    @Test(.timeLimit(.minutes(15))) func readers() async throws {
        let pattern = TestPattern(
            name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        let tracks = try await asset.load(.tracks)
        let generator = AssetImageGenerator(asset: asset)
        for (number, time) in Self.times.enumerated() where number.isMultiple(of: 4) {
            let other = Self.times[(number * 11) % Self.times.count]
            _ = try? await generator.image(at: time)
            for track in tracks {
                let reader = try AssetReader(asset: asset)
                // An endless range of silence would never be read completely.
                reader.timeRange = TimeRange(start: time, end: other)
                let output = AssetReaderTrackOutput(
                    track: track,
                    settings: track.mediaType == .video
                        ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings()))
                try reader.add(output)
                do {
                    try reader.startReading()
                    for _ in 0..<3 { _ = try output.copyNextSampleBuffer() }
                } catch {}
                reader.cancelReading()
            }
            var composition = Composition()
            try? composition.insert(asset, timeRange: TimeRange(start: time, end: other), at: time)
            try? composition.append(asset, overlap: time)
            try? composition.appendGap(time)
            try? composition.insertGap(TimeRange(start: time, duration: other))
            try? composition.scale(TimeRange(start: time, duration: other), to: time)
            try? composition.mix(asset, timeRange: TimeRange(start: .zero, end: time), at: other)
            try? composition.remove(TimeRange(start: other, duration: time))
            _ = (composition.isValid, composition.duration, composition.tracks)
        }
        for rate in [Double.nan, .infinity, -1, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            let reader = try AssetReader(asset: asset)
            reader.playbackRate = rate
            try reader.add(AssetReaderTrackOutput(track: tracks[0], settings: .video(VideoOutputSettings())))
            #expect(throws: MediaError.self) { try reader.startReading() }
        }
        for value in Self.integers where value <= 0 || value > Int64(Int32.max) {
            _ = try? await WaveformReader(asset: asset).waveform(.init(samplesPerPixel: Int(clamping: value)))
            _ = try? await OutputSettingsAssistant.videoSettings(
                preset: .low, size: PixelSize(width: Int(clamping: value), height: 48),
                frameRate: Rational(Int32(clamping: value), Int32(clamping: value)))
        }
    }
}
