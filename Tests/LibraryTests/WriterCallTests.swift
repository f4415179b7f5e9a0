import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

@testable import Media

/// Orders of calls of a writer, samples that it rejects, and callers that serve several inputs.
@Suite struct WriterCallTests {
    enum Stage: CaseIterable { case beforeAdding, beforeStarting, beforeTheSession, later }

    /// A request for samples takes effect once the session starts, even if it precedes the session.
    @Test(arguments: Stage.allCases) func requestsTakeEffectAtTheSessionStart(
        _ stage: Stage
    )
        async throws
    {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let input = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
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
                        try input.append(WriterSamples.frame(counter.value))
                        counter.value += 1
                    }
                } catch {
                    continuation.yield("\(error)")
                }
            }
        }
        if stage == .beforeAdding { request() }
        try writer.add(input)
        if stage == .beforeStarting { request() }
        try writer.startWriting()
        if stage == .beforeTheSession { request() }
        #expect(!input.isReadyForMoreMediaData)
        try writer.startSession(atSourceTime: .zero)
        if stage == .later { request() }
        #expect(await calls.first { _ in true } == "done")
        try await writer.finishWriting()
        #expect(try FFmpegFile(url.path).frames().times.count == 10)
    }

    /// A writer that is cancelled, or that can't start, calls the blocks of earlier requests.
    @Test(arguments: [true, false]) func endingCallsTheBlocksOfRequests(
        _ isCancelled: Bool
    ) async throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o.mp4")), container: .mp4)
        var wrong = WriterSamples.settings()
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
        let video = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
        let sound = AssetWriterInput(mediaType: .audio, settings: .encode(WriterSamples.audioSettings()))
        for input in [video, sound] { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for time in 0..<3 as Range<Int64> { try video.append(WriterSamples.frame(time)) }
        try sound.append(WriterSamples.audio(at: .zero, count: 48_000))
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
                        pixelBuffer: buffer, pts: 3, duration: 1, timeBase: Rational(1, 25)))
            case 1: try video.append(packet)
            case 2: try video.append(WriterSamples.audio(at: MediaTime(value: 3, timescale: 25)))
            case 3: try sound.append(packet)
            case 4: try sound.append(WriterSamples.frame(25))
            case 5:
                try sound.append(
                    SampleBuffer(
                        audio: [Float](repeating: 0, count: 70), layout: ChannelLayout(defaultFor: 70),
                        sampleRate: 44_100, at: MediaTime(value: 1, timescale: 1)))
            default: try video.append(WriterSamples.frame(2))
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
        try video.append(WriterSamples.frame(3))
        try sound.append(WriterSamples.audio(at: MediaTime(value: 1, timescale: 1), count: 4800))
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
        let video = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
        try writer.add(video)
        try writer.startWriting()
        try writer.startSession(atSourceTime: MediaTime(value: -7, timescale: 1))
        func check(_ change: (inout SampleBuffer) -> Void) throws {
            var sample = try WriterSamples.frame(0)
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
    @Test(arguments: [ContainerType.mp4, .wav, .flac], [true, false])
    func endlessSilenceIsRefused(_ container: ContainerType, _ isFirst: Bool) async throws {
        let scratch = try Scratch()
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: scratch.file("o." + container.extensions[0])), container: container)
        let settings =
            container == .mp4
            ? WriterSamples.audioSettings()
            : WriterSamples.audioSettings(container == .wav ? "pcm_s16le" : "flac", .s16)
        let input = AssetWriterInput(mediaType: .audio, settings: .encode(settings))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        if !isFirst { try input.append(WriterSamples.audio(at: .zero)) }
        // In mp4, an edit list represents any start time.
        if !isFirst || container != .mp4 {
            for seconds in [1_000_000_000, 40_000] as [Int64] {
                let count = input.appendedSamples
                #expect(throws: MediaError.self) {
                    try input.append(WriterSamples.audio(at: MediaTime(value: seconds, timescale: 1)))
                }
                #expect(input.appendedSamples == count)
            }
        }
        if container == .mp4, !isFirst {
            // Cancelled once the gap is being filled.
            let before = writer.writtenPackets[0]
            let cancel = Task {
                while writer.writtenPackets[0] < before + 100 { try await Task.sleep(for: .milliseconds(1)) }
                writer.cancelWriting()
            }
            try input.append(WriterSamples.audio(at: MediaTime(value: 20_000, timescale: 1)))
            try await cancel.value
            #expect(writer.status == .cancelled)
        } else {
            try input.append(WriterSamples.audio(at: isFirst ? .zero : MediaTime(value: 2, timescale: 1)))
            try input.markAsFinished()
            try await writer.finishWriting()
        }
    }

    // MARK: One caller for all inputs

    /// A single caller that appends to its inputs alternately, and waits until each is ready, completes.
    @Test(arguments: [true, false]) func alternatingCallerCompletes(
        _ isAudioFirst: Bool
    )
        async throws
    {
        let scratch = try Scratch()
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        let writer = try AssetWriter(url: url, container: .mp4)
        let video = AssetWriterInput(mediaType: .video, settings: .encode(WriterSamples.settings()))
        let sound = AssetWriterInput(mediaType: .audio, settings: .encode(WriterSamples.audioSettings()))
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
                try video.append(WriterSamples.frame(frames))
                frames += 1
                if frames == 1000 {
                    try video.markAsFinished()
                    isVideoDone = true
                }
            }
            if !isAudioDone {
                try await wait(sound)
                try sound.append(
                    WriterSamples.audio(
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
}
