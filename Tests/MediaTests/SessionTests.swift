import Dispatch
import Foundation
import LibAV
import Locking
@testable import Media
import Synchronization
import TestSupport
import Testing
import Publishing

/// Sessions that read a test pattern leave a complete file or none, whether they complete, fail or are cancelled.
@Suite struct SessionTests {
    static func session(
        in scratch: Scratch, seconds: Int64 = 4, output: TemporaryFile? = nil
    ) throws -> (ReencodeSession, TemporaryFile) {
        let pattern = TestPattern(
            name: "testsrc", width: 160, height: 120, frameRate: Rational(25, 1),
            duration: MediaTime(value: seconds, timescale: 1), toneFrequency: 440)
        let asset = Asset(.pattern(pattern))
        let contents = try asset.loadSynchronously()
        let target = try output ?? TemporaryFile(destination: scratch.file("out.mp4"))
        let writer = AssetWriter(output: target, container: try #require(ContainerType.named("mp4")))
        let session = ReencodeSession(reader: try AssetReader(asset: asset), writer: writer)
        for track in contents.tracks { try add(track, to: session) }
        return (session, target)
    }

    static func add(
        _ track: AssetTrack, to session: ReencodeSession, readBy reader: AssetReader? = nil
    ) throws {
        if track.mediaType == .video {
            var video = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: track.timeBase)
            (video.width, video.height) = (track.format.width, track.format.height)
            video.pixelFormat = .yuv420p
            video.options = [MetadataEntry(key: "preset", value: "ultrafast")]
            try session.addTrack(
                output: AssetReaderTrackOutput(
                    track: track, settings: .video(VideoOutputSettings(pixelFormat: .yuv420p))),
                input: AssetWriterInput(mediaType: .video, settings: .encode(video)), readBy: reader)
        } else {
            var audio = EncoderConfiguration(
                encoder: "aac", mediaType: .audio, timeBase: Rational(1, track.format.sampleRate))
            audio.sampleRate = track.format.sampleRate
            audio.sampleFormat = try #require(SampleFormat(named: "fltp"))
            audio.channelLayout = track.format.channelLayout?.specified
            try session.addTrack(
                output: AssetReaderTrackOutput(
                    track: track, settings: .audio(AudioOutputSettings(sampleFormat: audio.sampleFormat))),
                input: AssetWriterInput(mediaType: .audio, settings: .encode(audio)), readBy: reader)
        }
    }

    @Test func completesAndPublishes() async throws {
        let scratch = try Scratch()
        let (session, output) = try Self.session(in: scratch)
        guard case .completed = await session.run() else {
            throw ProgramError(message: "not completed: \(String(describing: session.writer.error))")
        }
        #expect(session.reader.status == .completed)
        #expect(session.writer.status == .completed)
        #expect(session.reports.map(\.appendedSamples) == [100, 192_000])
        #expect(scratch.contents.isEmpty, "nothing is visible before it is published")
        try output.publish(replacing: false)
        #expect(scratch.contents == ["out.mp4"])
        #expect(try FFmpegFile(scratch.file("out.mp4")).frames().times.count == 100)
        #expect(throws: PublishingError.destinationExists) {
            try TemporaryFile(destination: scratch.file("out.mp4")).publish(replacing: false)
        }
    }

    /// Tracks of another asset are read by a reader of their own, also if their indices are those of the session's asset.
    @Test func tracksOfAnotherAsset_areWrittenBesideTheOthers() async throws {
        let scratch = try Scratch()
        let (session, output) = try Self.session(in: scratch)
        let other = Asset(
            .pattern(
                TestPattern(
                    name: "smpte", width: 80, height: 60, frameRate: Rational(10, 1),
                    duration: MediaTime(value: 2, timescale: 1), toneFrequency: 440)))
        let reader = try AssetReader(asset: other)
        for track in try other.loadSynchronously().tracks { try Self.add(track, to: session, readBy: reader) }
        guard case .completed = await session.run() else {
            throw ProgramError(message: "not completed: \(String(describing: session.writer.error))")
        }
        #expect(session.reports.map(\.appendedSamples) == [100, 192_000, 20, 96_000])
        #expect(session.reader.status == .completed && reader.status == .completed)
        try output.publish(replacing: false)
        let sizes = try Asset(.file(scratch.file("out.mp4"))).loadSynchronously().tracks.map(\.format.width)
        #expect(sizes == [160, 0, 80, 0])
    }

    /// Cancelling ends the readers of all tracks.
    @Test func cancel_endsAllReaders() async throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(in: scratch, seconds: 36_000)
        let other = Asset(
            .pattern(
                TestPattern(
                    name: "smpte", width: 80, height: 60, frameRate: Rational(10, 1),
                    duration: MediaTime(value: 36_000, timescale: 1), toneFrequency: nil)))
        let reader = try AssetReader(asset: other)
        for track in try other.loadSynchronously().tracks { try Self.add(track, to: session, readBy: reader) }
        async let outcome = session.run()
        session.cancel()
        guard case .cancelled = await outcome else { throw ProgramError(message: "not cancelled") }
        #expect(reader.status == .cancelled && scratch.contents.isEmpty)
    }

    /// Cancelling from a Dispatch queue after zero, one or many samples leaves no file.
    @Test(arguments: [0, 1, 30, 90])
    func cancelLeavesNothing(after samples: Int) async throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(in: scratch, seconds: 36_000)
        let queue = DispatchQueue(label: "test.cancel")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { @Sendable in
            if (session.writer.inputs.first?.appendedSamples ?? 0) >= samples { session.cancel() }
        }
        timer.activate()
        let outcome = await session.run()
        timer.cancel()
        guard case .cancelled = outcome else { throw ProgramError(message: "\(outcome)") }
        #expect(session.writer.status == .cancelled || session.writer.status == .unknown)
        #expect(scratch.contents.isEmpty)
    }

    @Test func cancelBeforeTheStartLeavesNothing() async throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(in: scratch)
        session.cancel()
        guard case .cancelled = await session.run() else { throw ProgramError(message: "not cancelled") }
        #expect(scratch.contents.isEmpty)
    }

    /// A session can be started and cancelled on the main actor. Closures that Dispatch calls trap on Linux if they are
    /// formed in main-actor code without `@Sendable`.
    @Test @MainActor func sessionsStartAndCancelOnTheMainActor() async throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(in: scratch, seconds: 36_000)
        async let outcome = session.run()
        while session.progress == .zero, session.writer.error == nil { await Task.yield() }
        session.cancel()
        session.cancel()
        guard case .cancelled = await outcome else { throw ProgramError(message: "not cancelled") }
        #expect(scratch.contents.isEmpty)
    }

    @Test func cancelAfterTheEndChangesNothing() async throws {
        let scratch = try Scratch()
        let (session, output) = try Self.session(in: scratch, seconds: 1)
        guard case .completed = await session.run() else { throw ProgramError(message: "not completed") }
        session.cancel()
        try output.publish(replacing: false)
        #expect(try FFmpegFile(scratch.file("out.mp4")).decodeErrors() == "")
    }

    /// After cancellation at random times, each track leaves the dispatch group once, for all orders of events.
    @Test func randomCancelsAlwaysEnd() async throws {
        let scratch = try Scratch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<24 {
                group.addTask {
                    let output = try TemporaryFile(destination: scratch.file("out-\(round).mp4"))
                    let (session, _) = try Self.session(in: scratch, seconds: 3, output: output)
                    async let outcome = session.run()
                    let count = Int.random(in: 0...75)
                    while [.unknown, .working].contains(session.writer.status),
                        session.writer.inputs[0].appendedSamples < count
                    {
                        await Task.yield()
                    }
                    session.cancel()
                    switch await outcome {
                    case .completed, .cancelled: break
                    case .failed(let error): throw error
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(scratch.contents.isEmpty)
    }

    /// If a track without input blocks the others, the description of the stall names both tracks.
    @Test func stallDescriptionNamesTheTracks() throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(in: scratch, seconds: 36_000)
        let (reader, writer) = (session.reader, session.writer)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try reader.startReading()
        let (output, input) = (reader.outputs[1], writer.inputs[1])
        while input.isReadyForMoreMediaData, let sample = try output.copyNextSampleBuffer() {
            try input.append(sample)
        }
        #expect(writer.stallDescription.contains("audio 1 waits for video 0: "))
        #expect(writer.stallDescription.hasSuffix(" packets queued"))
        #expect(writer.inputs[0].isReadyForMoreMediaData, "the track that is behind accepts samples")
        writer.cancelWriting()
        reader.cancelReading()
    }

    /// If a caller waits for an input although only another one can continue, the writer fails with an error that names
    /// both.
    @Test func waitingForTheWrongInputFails() async throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: scratch.file("o.mov")),
            container: try #require(ContainerType.named("mov")))
        writer.stallTimeout = .milliseconds(700)
        var settings = EncoderConfiguration(
            encoder: "pcm_s16le", mediaType: .audio, timeBase: Rational(1, 48_000))
        (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (48_000, .s16, .mono)
        let inputs = (0..<2).map { _ in AssetWriterInput(mediaType: .audio, settings: .encode(settings)) }
        for input in inputs { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let second = [Float](repeating: 0, count: 480_000)
        var failure: (any Error)?
        for number in 0..<1000 as Range<Int64> {
            while !inputs[0].isReadyForMoreMediaData { try await Task.sleep(for: .milliseconds(5)) }
            do {
                try inputs[0].append(
                    SampleBuffer(
                        audio: second, layout: .mono, sampleRate: 48_000,
                        at: MediaTime(value: number * 10, timescale: 1)))
            } catch {
                failure = error
                break
            }
        }
        guard case .stalled(let message)? = failure as? MediaError else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(message.contains("audio 0 waits for audio 1: "), "\(message)")
        #expect(writer.status == .failed && scratch.contents.isEmpty)
    }

    /// Samples after the session's end are dropped, and an end that is set too late is rejected.
    @Test func samplesAfterTheSessionEndAreDropped() async throws {
        let scratch = try Scratch()
        let (session, output) = try Self.session(in: scratch, seconds: 4)
        let (reader, writer) = (session.reader, session.writer)
        try writer.startWriting()
        #expect(throws: MediaError.self) {
            try writer.endSession(atSourceTime: MediaTime(value: 2, timescale: 1))
        }
        try writer.startSession(atSourceTime: MediaTime(value: 1, timescale: 1))
        try writer.endSession(atSourceTime: MediaTime(value: 3, timescale: 1))
        reader.timeRange = nil
        try reader.startReading()
        for (source, input) in zip(reader.outputs, writer.inputs) {
            while let sample = try source.copyNextSampleBuffer() {
                if sample.presentationTime < MediaTime(value: 1, timescale: 1) { continue }
                try input.append(sample)
            }
            try input.markAsFinished()
        }
        #expect(throws: MediaError.self) {
            try writer.endSession(atSourceTime: MediaTime(value: 3, timescale: 2))
        }
        try await writer.finishWriting()
        try output.publish(replacing: false)
        let contents = try Asset(.file(scratch.file("out.mp4"))).loadSynchronously()
        #expect(contents.duration == MediaTime(value: 2, timescale: 1))
        #expect(contents.tracks[0].sampleCount == 50)
    }

    /// Measurements check for cancellation before every sample.
    @Test func measurementsAreCancelled() throws {
        let asset = Asset(
            .pattern(
                TestPattern(
                    name: "smpte", width: 64, height: 64, frameRate: Rational(25, 1),
                    duration: MediaTime(value: 36_000, timescale: 1), toneFrequency: 1000)))
        let contents = try asset.loadSynchronously()
        let checks = Atomic<Int>(0)
        let isCancelled: @Sendable () -> Bool = { checks.add(1, ordering: .relaxed).newValue > 20 }
        let meter = SilenceBlackDetector(asset: asset, isCancelled: isCancelled)
        #expect(throws: CancellationError.self) { try meter.decodeAll() }
        #expect(checks.load(ordering: .relaxed) == 21)
        let (video, audio) = (contents.tracks(of: .video)[0], contents.tracks(of: .audio)[0])
        #expect(throws: CancellationError.self) { try meter.longestBlack(of: video) }
        #expect(throws: CancellationError.self) { try meter.longestSilence(of: audio) }
        #expect(throws: CancellationError.self) {
            try LoudnessMeter(asset: asset, track: audio, filters: nil, isCancelled: isCancelled)
                .measure()
        }
    }
}
