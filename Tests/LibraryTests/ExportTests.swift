import Articles
import Foundation
import Locking
import TandemBatch
import TandemKit
import TestSupport
import Testing

@testable import JobSpec
@testable import LibAV
@testable import Media

/// Tests exports, presets, job files, still images, and readers that resume an interrupted read.
@Suite struct ExportTests {
    @Test func typedNamesMatchTheTables() {
        #expect(ExportPreset.typed.map(\.name).sorted() == ExportPreset.names.sorted())
        #expect(Set(ExportPreset.typed.map(\.name)).count == ExportPreset.names.count)
        for (name, type) in ContainerType.typed { #expect(type.name == name) }
    }

    /// An existing destination is an error before the source is read, and isn't changed.
    @Test func existingDestinationIsRejected() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        try scratch.write("mine", to: "o.mp4")
        let session = ExportSession(asset: Asset(url: input), preset: .low)
        await #expect(throws: ExportError.self) {
            try await session.export(to: URL(fileURLWithPath: scratch.file("o.mp4")))
        }
        #expect(session.status == .failed)
        #expect(try String(contentsOfFile: scratch.file("o.mp4"), encoding: .utf8) == "mine")
        await #expect(throws: MediaError.self) {
            try await session.export(to: URL(fileURLWithPath: scratch.file("p.mp4")))
        }
    }

    /// A file that another session published isn't replaced.
    @Test func fileOfAnotherSessionIsNotReplaced() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let first = try await ExportSession(asset: Asset(url: input), preset: .low).export(to: output)
        let before = try Data(contentsOf: output)
        let second = ExportSession(asset: Asset(url: input), preset: .highest)
        await #expect(throws: ExportError.self) { try await second.export(to: output) }
        #expect(try Data(contentsOf: output) == before && first.fileLength == before.count)
        // Of two concurrent exports to one destination, one succeeds.
        let other = URL(fileURLWithPath: scratch.file("p.mp4"))
        async let a = try? ExportSession(asset: Asset(url: input), preset: .low).export(to: other)
        async let b = try? ExportSession(asset: Asset(url: input), preset: .highest).export(to: other)
        let results = await [a, b]
        #expect(results.count { $0 != nil } == 1)
        #expect(scratch.contents.sorted() == ["in.mp4", "o.mp4", "p.mp4"])
    }

    /// Characters in paths that are special in job files are literal, and names need no container extension.
    @Test func specialCharactersInNamesAreLiteral() async throws {
        let scratch = try Scratch()
        let plain = try await ArticleTests.movie(in: scratch)
        let strange = URL(fileURLWithPath: scratch.file("a*[b] ${c} 'd\": {e}.mp4"))
        try FileManager.default.copyItem(at: plain, to: strange)
        let output = URL(fileURLWithPath: scratch.file("${x} $${y} #: [z].mov"))
        let session = ExportSession(asset: Asset(url: strange), preset: .passthrough)
        session.metadata = [MetadataEntry(key: "title", value: "${vars} \"$$\" \u{1F600}")]
        let result = try await session.export(to: output)
        #expect(result.url.path == output.path)
        let title = try await Asset(url: output).load(.metadata).first { $0.key == "title" }?.value
        #expect(title == "${vars} \"$$\" \u{1F600}")
        let nameless = ExportSession(asset: Asset(url: plain), preset: .low)
        await #expect(throws: ExportError.self) {
            try await nameless.export(to: URL(fileURLWithPath: scratch.file("nameless")))
        }
        let wrong = ExportSession(asset: Asset(url: plain), preset: .m4a)
        await #expect(throws: ExportError.self) {
            try await wrong.export(to: URL(fileURLWithPath: scratch.file("x.webm")))
        }
    }

    @Test func presetsAreCompatibleWithTheTracks() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        let presets = await ExportSession.presets(compatibleWith: Asset(url: input)).map(\.name)
        #expect(presets.contains("medium") && presets.contains("m4a") && presets.contains("passthrough"))
        let silent = URL(fileURLWithPath: scratch.file("silent.mp4"))
        try await writingPixelBuffers(output: silent)
        let ofSilent = await ExportSession.presets(compatibleWith: Asset(url: silent)).map(\.name)
        #expect(!ofSilent.contains("m4a") && ofSilent.contains("medium"))
        #expect(
            await ExportSession.presets(compatibleWith: Asset(url: URL(fileURLWithPath: "/nowhere"))).isEmpty)
    }

    /// Cancelling by the session before the start, and by the task during the export, leaves no file.
    @Test func cancelledExportsLeaveNoFile() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.endlessMovie(in: scratch)
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let early = ExportSession(asset: Asset(url: input), preset: .highest)
        early.cancelExport()
        await #expect(throws: CancellationError.self) { try await early.export(to: output) }
        #expect(early.status == .cancelled)

        let session = ExportSession(asset: Asset(url: input), preset: .highest)
        let task = Task { try await session.export(to: output) }
        var seen: [Double] = []
        for await state in session.states(updateInterval: .milliseconds(20)) {
            seen.append(state.progress)
            if state.progress > 0.0001 { task.cancel() }
        }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(session.status == .cancelled)
        #expect(seen.max() ?? 0 > 0.0001)
        #expect(scratch.contents == ["long.mp4"])
    }

    /// The final state is reported immediately, regardless of the update interval.
    @Test func finalStateIsReportedImmediately() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        let session = ExportSession(asset: Asset(url: input), preset: .low)
        let states = session.states(updateInterval: .seconds(86_400))
        let task = Task { try await session.export(to: URL(fileURLWithPath: scratch.file("o.mp4"))) }
        var last: (status: SessionStatus, progress: Double)?
        for await state in states { last = state }
        #expect(last?.status == .completed && last?.progress == 1)
        _ = try await task.value
        // A cancelled listener ends without an export.
        let early = ExportSession(asset: Asset(url: input), preset: .low)
        let listener = Task {
            for await _ in early.states(updateInterval: .seconds(86_400)) {}
        }
        listener.cancel()
        await listener.value
    }

    /// Audio copied from Matroska, whose timestamps are in milliseconds, is timed in samples, as in jobs.
    @Test func copiedAudioIsTimedInSamples() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=sample_rate=44100:duration=3", "-c:a", "aac", scratch.file("a.mkv"))
        let asset = Asset(url: URL(fileURLWithPath: scratch.file("a.mkv")))
        let assistant = try await OutputSettingsAssistant(
            preset: .passthrough, asset: asset, container: .mp4)
        guard case .passthrough(_, let unit) = assistant.tracks[0].writer else {
            Issue.record("audio isn't copied")
            return
        }
        #expect(unit == Rational(1, 44_100))
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let session = ReencodeSession(
            reader: try AssetReader(asset: asset),
            writer: try AssetWriter(url: output, container: assistant.container))
        for track in assistant.tracks {
            try session.addTrack(output: track.makeOutput(), input: track.makeInput())
        }
        guard case .completed = await session.run() else {
            Issue.record("the session isn't completed")
            return
        }
        let probed = try program(
            "ffprobe",
            ["-v", "error", "-show_entries", "packet=duration", "-of", "csv=p=0", output.path])
        let lengths = probed.text.split(separator: "\n").map { $0.prefix { $0 != "," } }
        #expect(lengths.dropLast().allSatisfy { $0 == "1024" }, "\(Set(lengths))")
    }

    /// Settings of a preset can be changed before use.
    @Test func settingsAreEditable() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        let asset = Asset(url: input)
        var assistant = try await OutputSettingsAssistant(preset: .medium, asset: asset)
        #expect(assistant.container == .mp4 && assistant.tracks.count == 2)
        guard case .video(var reading) = assistant.tracks[0].reader,
            case .encode(var writing) = assistant.tracks[0].writer
        else {
            Issue.record("video isn't encoded")
            return
        }
        reading.size = PixelSize(width: 160, height: 120)
        (writing.width, writing.height) = (160, 120)
        (assistant.tracks[0].reader, assistant.tracks[0].writer) = (.video(reading), .encode(writing))
        let output = URL(fileURLWithPath: scratch.file("o.mp4"))
        let session = ReencodeSession(
            reader: try AssetReader(asset: asset),
            writer: try AssetWriter(url: output, container: assistant.container))
        for track in assistant.tracks {
            try session.addTrack(output: track.makeOutput(), input: track.makeInput())
        }
        guard case .completed = await session.run() else {
            Issue.record("the session isn't completed")
            return
        }
        #expect(try FFmpegFile(output.path).stream("v:0", "width")["width"] as? Int == 160)
    }

    /// A reader that starts at the position of an interrupted one reads each remaining frame and sample once.
    @Test(arguments: [3, 10, 31]) func resumedReadingLosesNoSample(_ count: Int) async throws {
        let scratch = try Scratch()
        let asset = Asset(url: try await ArticleTests.movie(in: scratch))
        let tracks = try await asset.load(.tracks)
        for track in tracks {
            let whole = try read(track, of: asset, from: nil, most: .max)
            let first = try read(track, of: asset, from: nil, most: count)
            let position = try #require(first.position)
            let rest = try read(track, of: asset, from: position, most: .max)
            let joined = first.values + rest.values
            #expect(joined.count == whole.values.count, "\(track.mediaType)")
            let isSame = zip(joined, whole.values).allSatisfy { abs($0 - $1) < 0.0005 }
            #expect(isSame, "\(track.mediaType)")
        }
    }

    private func read(
        _ track: AssetTrack, of asset: Asset, from start: MediaTime?, most: Int
    ) throws -> (values: [Float], position: MediaTime?) {
        let reader = try AssetReader(asset: asset)
        let settings: ReaderOutputSettings =
            track.mediaType == .video
            ? .video(VideoOutputSettings(pixelFormat: .gray))
            : .audio(AudioOutputSettings(sampleFormat: .float, layout: .mono))
        let output = AssetReaderTrackOutput(track: track, settings: settings)
        try reader.add(output)
        if let start { reader.timeRange = TimeRange(start: start, end: track.timeRange.end) }
        try reader.startReading()
        var values: [Float] = []
        var taken = 0
        while taken < most, let sample = try output.copyNextSampleBuffer() {
            taken += 1
            sample.withFrame { frame in
                _ = frame.withPlane(0) { bytes, _ in
                    if frame.width > 0 {
                        var sum: UInt16 = 0
                        for offset in stride(from: 0, to: bytes.count, by: 7) {
                            sum = sum &* 31 &+ UInt16(bytes[offset])
                        }
                        values.append(Float(sum))
                    } else {
                        values += bytes.bindMemory(to: Float.self).prefix(frame.sampleCount)
                    }
                }
            }
        }
        reader.cancelReading()
        return (values, output.position)
    }

    /// Reading at a playback rate of 10 takes at least a tenth of the duration.
    @Test func playbackRateLimitsReading() async throws {
        let scratch = try Scratch()
        let asset = Asset(url: try await ArticleTests.movie(in: scratch))
        let reader = try AssetReader(asset: asset)
        for track in try await asset.load(.tracks) { try reader.add(AssetReaderTrackOutput(track: track)) }
        reader.playbackRate = 10
        try reader.startReading()
        let begun = ContinuousClock.now
        while try reader.outputs[0].copyNextSampleBuffer() != nil {}
        // The last packet is decoded two frames before the last frame is shown, at 1.92 s.
        #expect(ContinuousClock.now - begun >= .milliseconds(183))
        // Decoded and encoded by a session.
        for _ in 0..<2 {
            let session = ReencodeSession(
                reader: try AssetReader(asset: asset),
                writer: try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("s\(UUID().uuidString).mp4")), container: .mp4))
            session.reader.playbackRate = 8
            session.stallTimeout = .milliseconds(100)
            for track in try await OutputSettingsAssistant(preset: .low, asset: asset).tracks {
                try session.addTrack(output: track.makeOutput(), input: track.makeInput())
            }
            let start = ContinuousClock.now
            guard case .completed = await session.run() else {
                Issue.record("the session isn't completed")
                return
            }
            #expect(ContinuousClock.now - start >= .milliseconds(235))
        }
        let wrong = try AssetReader(asset: asset)
        wrong.playbackRate = 0
        #expect(throws: MediaError.self) { try wrong.startReading() }
    }

    @Test func jobFilesArePlannedAndRun() async throws {
        let scratch = try Scratch()
        _ = try await ArticleTests.movie(in: scratch)
        let file = URL(fileURLWithPath: scratch.file("jobs.yaml"))
        try scratch.write(
            """
            version: 1
            vars: { size: "80x60" }
            jobs:
              small:
                asset: ./in.mp4
                tracks: [ { video: first, encode: { codec: h264, size: "${size}" } } ]
                destination: ./small.mp4
              poster: { asset: ./in.mp4, images: { at: 1s }, destination: ./poster.jpg }
            """, to: "jobs.yaml")
        let batch = try JobBatch(contentsOf: [file], variables: ["size": "160x120"])
        let records = try await batch.plan().run()
        #expect(records.count == 2 && records.allSatisfy(\.outcome.isSuccess))
        #expect(try FFmpegFile(scratch.file("small.mp4")).stream("v:0", "width")["width"] as? Int == 160)
        let rerun = try await batch.plan().run()
        let isUpToDate = rerun.map { $0.outcome.isUpToDate }
        #expect(isUpToDate == [true, true])

        try scratch.write("version: 1\njobs: { a: { asset: ./in.mp4, trakcs: [] } }\n", to: "wrong.yaml")
        do {
            _ = try JobBatch(
                contentsOf: [URL(fileURLWithPath: scratch.file("wrong.yaml"))], variables: ["no": "1"])
            Issue.record("an invalid job file was accepted")
        } catch let error as JobFileError {
            #expect(error.diagnostics.contains { $0.rule == .unknownKey && $0.range.line == 2 })
            #expect(error.diagnostics.contains { $0.rule == .unusedVariable })
        }
    }

    /// Included files must be in the root folder; the job files themselves may be elsewhere.
    @Test func batchesReadIncludedFilesOfTheirRootOnly() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("root"), withIntermediateDirectories: true)
        try scratch.write("version: 1\nsettings: { a: { codec: h264 } }\n", to: "outside.yaml")
        try scratch.write(
            """
            version: 1
            include: [outside.yaml]
            jobs: { j: { asset: root/a.mp4, tracks: [ { video: first, copy: true } ], destination: root/b.mp4 } }
            """, to: "jobs.yaml")
        let file = URL(fileURLWithPath: scratch.file("jobs.yaml"))
        _ = try JobBatch(contentsOf: [file])
        let root = try #require(PathRoot(folder: scratch.file("root")))
        let rooted = MediaEnvironment(sources: SourceEnvironment(root: root))
        do {
            _ = try JobBatch(contentsOf: [file], environment: rooted)
            Issue.record("a file outside the root was included")
        } catch let error as JobFileError {
            #expect(error.diagnostics.map(\.rule) == [.fileUnreadable])
            #expect(error.diagnostics.first?.range.line == 2)
        }
    }

    /// Cancelling a task ends its image generation, and the generator can be used again.
    @Test func stillsAreCancelledWithTheirTask() async throws {
        let scratch = try Scratch()
        let generator = AssetImageGenerator(asset: Asset(url: try await ArticleTests.movie(in: scratch)))
        let (images, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            var count = 0
            for try await _ in generator.images(
                for: (0..<100_000).map { MediaTime(value: Int64($0 % 50), timescale: 25) })
            {
                count += 1
                continuation.yield()
            }
            return count
        }
        // One image has been generated, and many are pending.
        for await _ in images { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(try await generator.image(at: .zero).actualTime == .zero)
        generator.cancel()
        await #expect(throws: CancellationError.self) { _ = try await generator.image(at: .zero) }
    }
}
