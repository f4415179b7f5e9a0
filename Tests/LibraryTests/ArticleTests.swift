@testable import Articles
import Foundation

import TandemKit
import TestSupport
import Testing

/// The example programs of the library's articles, compared with the text of the articles and run.
@Suite struct ArticleTests {
    /// Exports a movie with audio; its default duration is two seconds.
    static func movie(in scratch: Scratch, seconds: Int64 = 2, name: String = "in.mp4") async throws -> URL {
        let pattern = TestPattern(
            name: "testsrc", width: 320, height: 240, frameRate: Rational(25, 1),
            duration: MediaTime(value: seconds, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
        let url = URL(fileURLWithPath: scratch.file(name))
        try await ExportSession(asset: asset, preset: .low).export(to: url)
        return url
    }

    /// Creates a movie of a hundred minutes, so that no session completes before it is cancelled: a task that cancels a
    /// session waits for a thread of Swift's pool, which other tests may occupy for many seconds.
    static func endlessMovie(in scratch: Scratch) async throws -> URL {
        let minute = try await movie(in: scratch, seconds: 60, name: "minute.mp4")
        let url = URL(fileURLWithPath: scratch.file("long.mp4"))
        try ffmpeg("-stream_loop", "99", "-i", minute.path, "-c", "copy", url.path)
        try FileManager.default.removeItem(at: minute)
        return url
    }

    /// The articles of TandemKit; that of TandemBatch is the last one.
    private static let articles: [(program: String, maxLines: Int)] = [
        ("ReadingSamples", 30), ("WritingPixelBuffers", 30), ("ReencodingWithCancel", 25),
        ("Passthrough", 30), ("Recording", 25), ("Segmenting", 40),
        ("Exporting", 12), ("Stills", 8), ("Waveforms", 12), ("Mixing", 30), ("Composing", 25),
        ("EncoderSettings", 30), ("SamplesAndPlanes", 30), ("KeepingSamples", 30), ("HandlingErrors", 20),
        ("JobFiles", 20),
    ]

    /// Each article contains the program that is compiled here, which has at most `maxLines` lines.
    @Test(arguments: articles) func articlesContainTheTestedPrograms(_ name: String, _ maxLines: Int) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let source = try String(
            contentsOf: tests.appendingPathComponent("../Articles/\(name).swift"), encoding: .utf8)
        let library = name == "JobFiles" ? "TandemBatch" : "TandemKit"
        let article = try String(
            contentsOf: tests.appendingPathComponent(
                "../../Sources/\(library)/\(library).docc/\(name).md"), encoding: .utf8)
        let begin = try #require(source.range(of: "    // begin\n"))
        let end = try #require(source.range(of: "    // end\n"))
        let lines = source[begin.upperBound..<end.lowerBound].split(
            separator: "\n", omittingEmptySubsequences: false)
        let program = lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }
        #expect(
            article.contains(program.joined(separator: "\n")), "\(name).md doesn't contain the tested program"
        )
        #expect(program.filter { !$0.isEmpty }.count <= maxLines)
    }

    /// The folder of the pages of types, each of which contains one example.
    private static let pages = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent(
            "../../Sources/TandemKit/TandemKit.docc/Types")

    /// The code of an article or a page, each example separately.
    private static func examples(in page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
    }

    /// The page of each type contains the example that is compiled in `TypeExamples`, and no other code.
    @Test func pagesOfTypesContainTheTestedExamples() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../Articles/TypeExamples")
        var compiled: [String: String] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            for (index, line) in lines.enumerated() where line.contains("// begin ") {
                let name = try #require(line.components(separatedBy: "// begin ").last)
                let indent = line.prefix { $0 == " " }.count
                let end = try #require(lines[index...].firstIndex { $0.hasSuffix("// end \(name)") })
                compiled[name] = lines[(index + 1)..<end].map { String($0.dropFirst(indent)) }
                    .joined(separator: "\n")
            }
        }
        let pages = try FileManager.default.contentsOfDirectory(
            at: Self.pages, includingPropertiesForKeys: nil)
        for page in pages {
            let name = page.deletingPathExtension().lastPathComponent
            let code = Self.examples(in: try String(contentsOf: page, encoding: .utf8))
            #expect(try code == [#require(compiled[name], "\(name) has no example")], "\(name)")
        }
        #expect(pages.count == compiled.count && pages.count > 40)
    }

    @Test func examplesOfAssetsAndReadersRun() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let folder = URL(fileURLWithPath: scratch.path)
        let asset = Asset(url: input)
        let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
        let audio = try #require(try await asset.loadTracks(withMediaType: .audio).first)
        try await AssetExamples.asset(input: input)
        try await AssetExamples.track(input: input)
        AssetExamples.format(track: video)
        AssetExamples.container(url: input)
        #expect(try await AssetExamples.environment(folder: folder, file: input).seconds > 1.9)
        try AssetExamples.root(folder: folder, upload: input)
        #expect(AssetExamples.time() == MediaTime(value: 76_001, timescale: 30_000))
        #expect(AssetExamples.range().end == MediaTime(value: 12, timescale: 1))
        #expect(try await ReadingExamples.reader(input: input) == 25)
        let count = try await ReadingExamples.output(
            reader: AssetReader(loading: asset), track: audio)
        #expect(abs(count - 32_000) < 800)
        #expect(ReadingExamples.trackOutputs(track: video).count == 2)
        let reader = try await ReadingExamples.damage(asset: asset)
        let mix = try await ReadingExamples.mixOutput(asset: asset, reader: reader)
        let frames = try await ReadingExamples.compositionOutput(asset: asset, reader: reader)
        try await reader.start()
        try await SampleExamples.sample(output: mix)
        #expect(try await SampleExamples.queue(output: frames).count == 10)
        #expect(ReadingExamples.videoSettings().fit == .contain)
        #expect(try await ReadingExamples.generator(input: input).count == 2)
        let waveform = try await ReadingExamples.waveform(input: input)
        #expect(ReadingExamples.values(of: waveform) > 0.05)
        let drawing = URL(fileURLWithPath: scratch.file("waveform.svg"))
        try ReadingExamples.drawing(of: waveform, output: drawing)
        #expect(try String(contentsOf: drawing, encoding: .utf8).hasPrefix("<svg"))
        #expect(try SampleExamples.pixels().width == 64)
        #expect(try SampleExamples.pool().width == 640)
        #expect(SampleExamples.format() != nil && SampleExamples.sampleFormat().sampleFormat != nil)
        #expect(try SampleExamples.generics() == (0.5, 235))
    }

    @Test func examplesOfWritersRun() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let asset = Asset(url: input)
        func url(_ name: String) -> URL { URL(fileURLWithPath: scratch.file(name)) }
        func frames(of name: String) throws -> Int { try FFmpegFile(url(name).path).frames().times.count }
        let size = PixelSize(width: 64, height: 48)
        func queue() throws -> SampleBufferQueue {
            let queue = SampleBufferQueue()
            for number in 0..<25 as Range<Int64> {
                queue.append(
                    try SampleBuffer(
                        pixelBuffer: PixelBuffer(pixelFormat: .gray, width: 64, height: 48),
                        at: MediaTime(value: number, timescale: 25),
                        duration: MediaTime(value: 1, timescale: 25)))
            }
            return queue
        }
        try await WritingExamples.writer(frames: try queue(), size: size, output: url("writer.mp4"))
        let requests = try AssetWriter(url: url("requests.mp4"), container: .mp4)
        let requested = try AssetWriterInput(video: .h264(size: size, frameRate: Rational(25, 1)))
        try requests.add(requested)
        try requests.startWriting()
        try requests.startSession(atSourceTime: .zero)
        let queued = try queue()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            WritingExamples.input(requested, of: requests, frames: queued) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
        try await WritingExamples.adaptor(
            input: AssetWriterInput(video: .h264(size: size, frameRate: Rational(25, 1))),
            writer: AssetWriter(url: url("adaptor.mp4"), container: .mp4))
        for name in ["writer.mp4", "requests.mp4", "adaptor.mp4"] {
            #expect(try frames(of: name) == 25, "\(name)")
        }
        let settings = try WritingExamples.videoSettings(
            writer: AssetWriter(url: url("none.mp4"), container: .mp4))
        #expect(settings.mediaType == .video)
        #expect(try WritingExamples.audioSettings().mediaType == .audio)
        #expect(try WritingExamples.configuration().mediaType == .video)
        try await WritingExamples.session(asset: asset, output: url("session.mp4"))
        try await WritingExamples.export(input: input, output: url("export.mp4"))
        try await WritingExamples.assistant(asset: asset, output: url("assistant.mp4"))
        for name in ["session.mp4", "export.mp4", "assistant.mp4"] {
            #expect(try frames(of: name) == 50, "\(name)")
        }
        #expect(await WritingExamples.presets(asset: asset).contains { $0.name == "medium" })
        let folder = url("segments")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let segments = WritingExamples.segmentWriter(folder: folder)
        let first = try #require(try await asset.loadTracks(withMediaType: .video).first)
        let session = ReencodeSession(reader: try await AssetReader(loading: asset), writer: segments)
        try session.addTrack(
            output: AssetReaderTrackOutput(track: first),
            input: AssetWriterInput(
                mediaType: .video, settings: .passthrough(first.format, timeBase: first.timeBase)))
        guard case .completed = await session.run() else {
            throw ProgramError(message: "\(String(describing: segments.error))")
        }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/init.mp4"))
    }

    @Test func furtherExamplesRun() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let asset = Asset(url: input)
        let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
        #expect(FurtherExamples.audioOutput().sampleRate == 44_100)
        #expect(FurtherExamples.outputSettings().count == 2)
        let copying = FurtherExamples.copyingInput(track: track)
        FurtherExamples.transform(input: copying)
        #expect(copying.mediaType == .video && copying.transform?.clockwiseDegrees == 90)
        try await FurtherExamples.contents(asset: asset)
        let reader = try await AssetReader(loading: asset)
        FurtherExamples.extent(reader: reader)
        let frames = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(frames)
        try await reader.start()
        var count = 0
        while try await frames.next() != nil { count += 1 }
        #expect(abs(count - 25) <= 1)
        let pattern = FurtherExamples.pattern()
        #expect(try await pattern.load(.duration) == MediaTime(value: 2, timescale: 1))
        let generator = AssetImageGenerator(asset: asset)
        let times = [MediaTime.zero, MediaTime(seconds: 1)]
        #expect(await FurtherExamples.results(generator: generator, times: times) == 2)
        let images = try await FurtherExamples.stills(generator: generator, times: times)
        for (number, image) in images.enumerated() {
            try image.write(to: URL(fileURLWithPath: scratch.file("frame-000\(number + 1).png")))
        }
        let sequence = FurtherExamples.images(folder: URL(fileURLWithPath: scratch.path))
        #expect(try await sequence.load(.duration) == MediaTime(value: 2, timescale: 25))
        let missing = URL(fileURLWithPath: scratch.file("none.mp4"))
        #expect(try await FurtherExamples.opening(url: missing)?.hasSuffix("none.mp4: notFound") == true)
        let session = ExportSession(asset: Asset(url: missing), preset: .low)
        let messages = try await FurtherExamples.exporting(
            session: session, to: URL(fileURLWithPath: scratch.file("x.mp4")))
        #expect(messages.contains { $0.contains("none.mp4") })
    }

    @Test func examplesOfCompositionsAndErrorsRun() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let asset = Asset(url: input)
        let joined = try CompositionExamples.composition(first: input, second: input)
        // 3.5 s, in whole frames.
        #expect(try await joined.load(.duration) == MediaTime(value: 88, timescale: 25))
        var composition = Composition()
        try composition.append(asset)
        composition = try CompositionExamples.join(composition: composition, next: asset)
        composition = CompositionExamples.layer(composition: composition)
        let layered = Asset(.composition(composition), environment: MediaEnvironment())
        #expect(try await ReadingExamples.frameCount(of: layered) == 88)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
        let session = ExportSession(asset: asset, preset: .low)
        CompositionExamples.videoComposition(track: track, session: session)
        session.audioMix = CompositionExamples.mix(
            track: try #require(try await asset.loadTracks(withMediaType: .audio).first))
        #expect(CompositionExamples.envelope().points.count == 4)
        #expect(await CompositionExamples.error { try await session.export(to: output) } == "done")
        let message = await CompositionExamples.error { try await session.export(to: output) }
        #expect(message == "an export session can only be used once")
        #expect(CompositionExamples.kind(of: CancellationError()) == "cancelled")
        let error = MediaError.noSamples(track: track.reference)
        #expect(CompositionExamples.details(of: error)?.hasPrefix("track 0 (video): ") == true)
    }

    @Test func jobFilesCreateTheirOutputs() async throws {
        let scratch = try Scratch()
        _ = try await Self.movie(in: scratch)
        try scratch.write(
            """
            version: 1
            vars: { size: "80x60" }
            jobs:
              small:
                asset: ./in.mp4
                tracks: [ { video: first, encode: { codec: h264, size: "${size}" } } ]
                destination: ./small.mp4
            """, to: "jobs.yaml")
        let file = URL(fileURLWithPath: scratch.file("jobs.yaml"))
        #expect(try await jobFiles(file: file) == [scratch.file("small.mp4")])
        #expect(try FFmpegFile(scratch.file("small.mp4")).stream("v:0", "width")["width"] as? Int == 160)
        // The output is up to date.
        #expect(try await jobFiles(file: file).isEmpty)
        try scratch.write("jobs: 3", to: "jobs.yaml")
        #expect(try await jobFiles(file: file).isEmpty)
    }

    @Test func compositionHasItsClipsGapAndMix() async throws {
        let scratch = try Scratch()
        let intro = try await Self.movie(in: scratch, name: "intro.mp4")
        let talk = try await Self.movie(in: scratch, seconds: 3, name: "talk.mp4")
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let result = try await composing(intro: intro, talk: talk, output: output)
        #expect(result.fileLength > 0)
        let ffmpegFile = FFmpegFile(output.path)
        // 2 s, 1.5 s that overlap by 1 s, and half a second of black.
        #expect(try ffmpegFile.frames().times.count == 75)
        let audio = try ffmpegFile.samples(channels: 1, rate: 48_000)
        // All samples of the last AAC packet are decoded.
        #expect((144_000...145_024).contains(audio.count))
        // The mixed-in audio is audible during the gap.
        #expect(audio[126_000..<138_000].contains { abs($0) > 0.05 })
        #expect(audio.prefix(24_000).contains { abs($0) > 0.05 })
    }

    @Test func invalidCompositionsThrow() async throws {
        let scratch = try Scratch()
        let movie = Asset(url: try await Self.movie(in: scratch))
        var composition = Composition()
        #expect(throws: (any Error).self) {
            try AssetReader(asset: Asset(.composition(Composition()), environment: MediaEnvironment()))
        }
        try composition.append(movie)
        let whole = Asset(.composition(composition), environment: MediaEnvironment())
        #expect(throws: MediaError.self) { try composition.append(whole) }
        #expect(throws: MediaError.self) {
            try composition.append(movie, overlap: MediaTime(seconds: 5))
        }
        #expect(throws: MediaError.self) {
            try composition.append(
                movie, timeRange: TimeRange(start: .zero, duration: MediaTime(seconds: 9)))
        }
        #expect(throws: MediaError.self) { try composition.appendGap(.zero) }
        for change in 0..<6 {
            var wrong = composition
            switch change {
            case 0: wrong.clips[0].placement.source = 9
            case 1: wrong.clips[0].placement.timeRange.duration = .zero
            case 2: wrong.canvas = nil
            case 3: wrong.duration = .zero - MediaTime(seconds: 1)
            case 4: wrong.canvas?.size.width = 641
            default: wrong.clips.append(wrong.clips[0])
            }
            #expect(!wrong.isValid)
            await #expect(throws: (any Error).self, "\(change)") {
                try await Asset(.composition(wrong), environment: MediaEnvironment()).load(.tracks)
            }
        }
        // A source that is missing when it is read.
        composition.sources[0] = .file(scratch.file("gone.mp4"))
        let asset = Asset(.composition(composition), environment: MediaEnvironment())
        let reader = try AssetReader(asset: asset)
        let track = try #require(try await asset.load(.tracks).first)
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(output)
        try reader.startReading()
        #expect(throws: (any Error).self) { while try output.copyNextSampleBuffer() != nil {} }
        #expect(reader.status == .failed)
        reader.cancelReading()
    }

    @Test func readingDecodesEveryFrame() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let (frames, mean) = try await readingSamples(input: input)
        #expect(frames == 50)
        #expect(mean > 60 && mean < 200)
    }

    @Test func writtenFramesHaveTheirTimesAndColors() async throws {
        let scratch = try Scratch()
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        try await writingPixelBuffers(output: output)
        let ffmpegFile = FFmpegFile(output.path)
        let times = try ffmpegFile.frames().times
        #expect(times.count == 50)
        #expect(zip(times, 0...).allSatisfy { abs($0 - Double($1) / 25) < 0.0005 })
        // Frame 25, shown at 1 s and decoded by ffmpeg: red encodes the frame number, green the row.
        let pixels = try rawFrame(of: output, at: 25)
        #expect(pixels.count == 320 * 240 * 3)
        for (row, column) in [(20, 40), (120, 160), (200, 250)] {
            let offset = (row * 320 + column) * 3
            #expect(abs(Int(pixels[offset]) - 125) <= 8, "red of \(row), \(column)")
            #expect(abs(Int(pixels[offset + 1]) - row) <= 8, "green of \(row), \(column)")
            #expect(abs(Int(pixels[offset + 2]) - column) <= 12, "blue of \(row), \(column)")
        }
    }

    @Test func reencodingCompletesOrIsCancelled() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        #expect(
            try await reencodingWithCancel(input: input, output: output, patience: .seconds(200))
                == "completed")
        #expect(try FFmpegFile(output.path).frames().times.count == 50)
        let long = try await Self.endlessMovie(in: scratch)
        let cut = URL(fileURLWithPath: scratch.file("cut.mp4"))
        #expect(
            try await reencodingWithCancel(input: long, output: cut, patience: .milliseconds(100))
                == "cancelled")
        #expect(scratch.contents.sorted() == ["in.mp4", "long.mp4", "o.mp4"])
    }

    @Test func recordingHasItsFrames() async throws {
        let scratch = try Scratch()
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        try await recording(output: output) { $0 < 60 }
        #expect(try FFmpegFile(output.path).frames().times.count == 60)
        #expect(try MovieBoxes(output.path).fragmentStarts(trackID: 1).count >= 1)
    }

    @Test func segmentsAreWritten() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch, seconds: 5)
        let folder = URL(fileURLWithPath: scratch.file("segments"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try await segmenting(input: input, folder: folder).seconds == 5)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("init.mp4") && names.contains("0.m4s"))
    }

    @Test func passthroughKeepsEveryFrame() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mkv"))
        try await passthrough(input: input, output: output)
        #expect(try FFmpegFile(output.path).frameHashes() == FFmpegFile(input.path).frameHashes())
    }

    @Test func exportedRangeHasItsDuration() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let result = try await exporting(input: input, output: output)
        #expect(result.duration == MediaTime(value: 1, timescale: 1))
        #expect(try FFmpegFile(output.path).frames().times.count == 26)
    }

    @Test func stillsHaveTheTimesOfFrames() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.png"))
        let found = try await stills(input: input, output: output)
        #expect(found.map(\.actualTime.seconds) == [1, 0.08, 0.48, 0.88])
        #expect(found.allSatisfy { $0.image.width == 160 && $0.image.height == 120 })
        #expect(try FFmpegFile(output.path).stream("v:0", "width,height")["width"] as? Int == 160)
    }

    @Test func typedSettingsEncodeFramesAndAudio() async throws {
        let scratch = try Scratch()
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        try await encoderSettings(output: output)
        let file = FFmpegFile(output.path)
        #expect(try file.frames().times.count == 50)
        #expect(try file.stream("v:0", "codec_name")["codec_name"] as? String == "h264")
        #expect(try file.stream("a:0", "codec_name")["codec_name"] as? String == "aac")
        let audio = try file.samples(channels: 1, rate: 48_000)
        #expect(abs(audio.count - 96_000) <= 1024)
        #expect(audio[20_000..<40_000].contains { abs(abs($0) - 0.5) < 0.02 })
    }

    @Test func samplesAndPlanesAreRead() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let (duration, peak, brightest) = try await samplesAndPlanes(input: input)
        #expect(abs(duration.seconds - 2) < 0.05)
        let samples = try FFmpegFile(input.path).samples(channels: 1, rate: 48_000)
        #expect(abs(peak - (samples.map(abs).max() ?? 0)) < 0.01)
        #expect(brightest > 200)
    }

    @Test func lastFramesAreKept() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        try await keepingSamples(input: input, output: output)
        let file = FFmpegFile(output.path)
        #expect(try file.frames().times.count == 12)
        #expect(try file.lowestPSNR(against: FFmpegFile(input.path), first: 38, count: 12, own: 0) > 30)
    }

    @Test func errorsAreHandledByKind() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let (good, gone) = (scratch.file("o.mp4"), scratch.file("gone.mp4"))
        let output = URL(fileURLWithPath: good)
        #expect(await handlingErrors(input: input, output: output) == "done")
        #expect(
            await handlingErrors(input: input, output: output) == "o.mp4 exists; choose another name")
        let message = await handlingErrors(
            input: URL(fileURLWithPath: gone), output: URL(fileURLWithPath: scratch.file("x.mp4")))
        #expect(message.hasPrefix("can't open gone.mp4: ") && message.contains("no such file"))
    }

    @Test func waveformHasAPixelPer512Samples() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.json"))
        let waveform = try await waveforms(input: input, output: output)
        #expect(waveform.length == (2 * 48_000 + 511) / 512)
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: output)) as? [String: Any]
        #expect(json?["length"] as? Int == waveform.length)
    }

    @Test func mixAppliesTheFade() async throws {
        let scratch = try Scratch()
        let input = try await Self.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.wav"))
        try await mixing(input: input, output: output)
        let samples = try FFmpegFile(output.path).samples(channels: 1, rate: 48_000)
        let whole = try FFmpegFile(input.path).samples(channels: 1, rate: 48_000)
        #expect(abs(samples.count - 96_000) <= 1)
        // The gain is 0.5 at 0.5 s, and 1 from 1 s on.
        for position in [24_000, 60_000, 90_000] where position < min(samples.count, whole.count) {
            let gain = min(1, Float(position) / 48_000)
            #expect(abs(samples[position] - whole[position] * gain) < 0.002, "\(position)")
        }
    }
}

/// Returns one frame of a file in RGB, decoded by ffmpeg.
func rawFrame(of url: URL, at number: Int) throws -> [UInt8] {
    let result = try program(
        "ffmpeg",
        [
            "-v", "error", "-nostdin", "-i", url.path, "-vf", "select=eq(n\\,\(number))", "-frames:v", "1",
            "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
        ])
    #expect(result.status == 0, "\(result.errors)")
    return Array(result.output)
}
