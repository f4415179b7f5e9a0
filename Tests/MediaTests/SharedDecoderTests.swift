import Dispatch
import LibAV
@testable import Media
import Synchronization
import TestSupport
import Testing
import Publishing

/// Readers that share a decoder each receive every frame. The slowest one determines the speed; a reader that has
/// ended, failed or been released doesn't block the others.
@Suite struct SharedDecoderTests {
    /// A stream of small frames that counts the requested frames.
    private final class CountedFrames: FrameStream {
        let timeBase = Rational(1, 25)
        let count: Int
        let failsAtEnd: Bool
        private let produced: Atomic<Int>
        var decoded: Int { produced.load(ordering: .relaxed) }

        init(_ count: Int, failsAtEnd: Bool = false) {
            self.count = count
            self.failsAtEnd = failsAtEnd
            produced = Atomic(0)
        }

        func next(into frame: borrowing Frame) throws -> FrameSupply {
            guard decoded < count else {
                if failsAtEnd { throw MediaError.misuse("the end") }
                return .ended
            }
            let format = AudioFormat(sampleFormat: .planarFloat, sampleRate: 48_000, layout: .mono)
            frame.take(try Frame.silence(format, samples: 64))
            frame.pts = Int64(decoded)
            produced.add(1, ordering: .relaxed)
            return .frame
        }
    }

    private final class Calls: Sendable {
        let count = Atomic<Int>(0)
    }

    private func port(_ decoder: SharedDecoder, _ index: Int) -> (FramePort, Calls) {
        let calls = Calls()
        return (decoder.claim(index) { @Sendable in calls.count.add(1, ordering: .relaxed) }, calls)
    }

    @Test func slowestReaderPacesTheOthers() throws {
        let frames = CountedFrames(1000)
        let decoder = SharedDecoder(frames, mediaType: .video, ports: 2)
        let (first, wakes) = port(decoder, 0)
        let (second, _) = port(decoder, 1)
        let frame = try Frame()
        var read = 0
        while case .frame = try first.next(into: frame) { read += 1 }
        #expect((1...6).contains(read), "a reader ahead waits for the slowest")
        #expect(frames.decoded <= 6, "decoding stops when the queues are full")
        #expect(wakes.count.load(ordering: .relaxed) == 0)
        for _ in 0..<3 {
            let before = frame.pts
            while case .pending = try first.next(into: frame) { _ = try second.next(into: try Frame()) }
            #expect(frame.pts == before + 1, "no frame is dropped")
        }
        var pending = false
        let known = wakes.count.load(ordering: .relaxed)
        while !pending { if case .pending = try first.next(into: frame) { pending = true } }
        let last = frame.pts
        while wakes.count.load(ordering: .relaxed) == known { _ = try second.next(into: try Frame()) }
        guard case .frame = try first.next(into: frame) else {
            throw ProgramError(message: "the reader was woken without a frame")
        }
        #expect(frame.pts == last + 1)
    }

    @Test func releasedReadersDoNotBlockTheOthers() throws {
        let decoder = SharedDecoder(CountedFrames(500), mediaType: .video, ports: 3)
        let (first, _) = port(decoder, 0)
        var second: FramePort? = port(decoder, 1).0
        let frame = try Frame()
        var read = 0
        while case .frame = try first.next(into: frame) { read += 1 }
        _ = try second?.next(into: frame)
        second = nil
        guard case .pending = try first.next(into: frame) else {
            throw ProgramError(message: "frames of the unclaimed third port are lost")
        }
        decoder.close(2)
        while case .frame = try first.next(into: frame) { read += 1 }
        #expect(read == 500)
    }

    /// A decoder without readers is deallocated, even while it decodes.
    @Test func decodersWithoutReadersAreDeallocated() async throws {
        for _ in 0..<50 {
            weak var released: SharedDecoder?
            do {
                let decoder = SharedDecoder(CountedFrames(100_000), mediaType: .audio, ports: 2)
                released = decoder
                let ports = [port(decoder, 0).0, port(decoder, 1).0]
                for _ in 0..<40 { for port in ports { _ = try port.next(into: try Frame()) } }
            }
            for _ in 0..<500 where released != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(released == nil)
            if released != nil { return }
        }
    }

    @Test func failureReachesEveryReader() throws {
        let decoder = SharedDecoder(CountedFrames(2, failsAtEnd: true), mediaType: .video, ports: 2)
        let ports = [port(decoder, 0).0, port(decoder, 1).0]
        for port in ports {
            let frame = try Frame()
            #expect(throws: MediaError.self) { while case .frame = try port.next(into: frame) {} }
            #expect(frame.pts == 1, "frames before the failure are delivered")
        }
    }

    // MARK: Sessions

    private struct Format {
        var width = 64
        var height = 48
        var encoder = "ffv1"
        var options: [MetadataEntry] = []
        var hasAudio = true
        var limit: Int64?
    }

    private static func source(seconds: Int64, frameRate: Rational = Rational(25, 1)) -> Asset {
        Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: 160, height: 120, frameRate: frameRate,
                    duration: MediaTime(value: seconds, timescale: 1), toneFrequency: 440)))
    }

    private static func session(_ asset: Asset, _ formats: [Format], in scratch: Scratch) throws
        -> (session: ReencodeSession, outputs: [TemporaryFile])
    {
        let contents = try asset.loadSynchronously()
        let container = try #require(ContainerType.named("mkv"))
        let outputs = try formats.indices.map {
            try TemporaryFile(destination: scratch.file("out-\($0).mkv"))
        }
        let writers = outputs.map { AssetWriter(output: $0, container: container) }
        let session = ReencodeSession(
            reader: try AssetReader(asset: asset), writer: writers[0], others: Array(writers.dropFirst()))
        for (format, writer) in zip(formats, writers) {
            writer.fileLengthLimit = format.limit
            for track in contents.tracks where track.mediaType == .video || format.hasAudio {
                try add(track, format, to: session, writer)
            }
        }
        return (session, outputs)
    }

    private static func add(
        _ track: AssetTrack, _ format: Format, to session: ReencodeSession, _ writer: AssetWriter
    ) throws {
        if track.mediaType == .video {
            var video = EncoderConfiguration(
                encoder: format.encoder, mediaType: .video, timeBase: track.timeBase)
            (video.width, video.height) = (format.width, format.height)
            video.pixelFormat = .yuv420p
            video.options = format.options
            let settings = VideoOutputSettings(
                pixelFormat: .yuv420p, size: PixelSize(width: format.width, height: format.height))
            try session.addTrack(
                output: AssetReaderTrackOutput(track: track, settings: .video(settings)),
                input: AssetWriterInput(mediaType: .video, settings: .encode(video)), writer: writer)
        } else {
            var audio = EncoderConfiguration(
                encoder: "flac", mediaType: .audio, timeBase: Rational(1, track.format.sampleRate))
            audio.sampleRate = track.format.sampleRate
            audio.sampleFormat = try #require(SampleFormat(named: "s16"))
            audio.channelLayout = track.format.channelLayout?.specified
            try session.addTrack(
                output: AssetReaderTrackOutput(
                    track: track, settings: .audio(AudioOutputSettings(sampleFormat: audio.sampleFormat))),
                input: AssetWriterInput(mediaType: .audio, settings: .encode(audio)), writer: writer)
        }
    }

    private static func complete(_ session: ReencodeSession) async throws {
        switch await session.run() {
        case .completed: return
        case .cancelled: throw CancellationError()
        case .failed(let error): throw error
        }
    }

    /// Encodes the pattern to a file, so that packets can be read and decoded.
    private func file(in scratch: Scratch, seconds: Int64) async throws -> Asset {
        let (session, outputs) = try Self.session(
            Self.source(seconds: seconds), [Format(width: 160, height: 120)], in: scratch)
        try await Self.complete(session)
        try outputs[0].publish(replacing: false)
        let path = scratch.file("source.mkv")
        _ = try program("mv", [scratch.file("out-0.mkv"), path])
        return Asset(.file(path))
    }

    /// Returns time and hash of every frame, by ffmpeg's `framemd5`.
    private static func hashes(_ path: String) throws -> String {
        try program("ffmpeg", ["-v", "error", "-i", path, "-map", "0", "-f", "framemd5", "-"]).text
    }

    @Test func outputsOfOneReaderMatchSeparateOnes() async throws {
        let scratch = try Scratch()
        let asset = try await file(in: scratch, seconds: 3)
        let formats = [
            Format(), Format(width: 160, height: 120), Format(width: 96, height: 72, hasAudio: false),
        ]
        let (session, outputs) = try Self.session(asset, formats, in: scratch)
        try await Self.complete(session)
        for output in outputs { try output.publish(replacing: false) }
        var alone: Int64 = 0
        for (index, format) in formats.enumerated() {
            let own = try Scratch()
            let (single, files) = try Self.session(asset, [format], in: own)
            try await Self.complete(single)
            try files[0].publish(replacing: false)
            alone = max(alone, single.reader.packetsRead)
            #expect(
                try Self.hashes(scratch.file("out-\(index).mkv")) == Self.hashes(own.file("out-0.mkv")))
        }
        #expect(session.reader.packetsRead == alone, "every packet is read once")
        #expect(session.reports.map(\.appendedSamples) == [75, 144_000, 75, 144_000, 75])
    }

    /// An encoder with a delay of hundreds of frames, one without delay, and audio between them cause no circular wait.
    @Test(arguments: [25, 1])
    func differentEncoderDelaysDoNotDeadlock(rate: Int32) async throws {
        let scratch = try Scratch()
        let slow = Format(
            encoder: "libx264",
            options: [
                MetadataEntry(key: "rc-lookahead", value: "250"),
                MetadataEntry(key: "preset", value: "veryfast"),
            ])
        let asset = Self.source(seconds: Int64(600 / rate), frameRate: Rational(rate, 1))
        let (session, _) = try Self.session(
            asset, [slow, Format(), Format(encoder: "mpeg4", hasAudio: false)], in: scratch)
        session.stallTimeout = .seconds(20)
        try await Self.complete(session)
        #expect(session.reports.map(\.appendedSamples).filter { $0 < 10_000 } == [600, 600, 600])
    }

    /// Different encoder delays of two tracks in one file cause no circular wait.
    @Test func twoRulesForATrackDoNotDeadlock() async throws {
        let scratch = try Scratch()
        let asset = Self.source(seconds: 300, frameRate: Rational(1, 1))
        let slow = Format(
            encoder: "libx264", options: [MetadataEntry(key: "rc-lookahead", value: "120")])
        let (session, _) = try Self.session(asset, [slow], in: scratch)
        let track = try #require(try asset.loadSynchronously().tracks.first { $0.mediaType == .video })
        try Self.add(track, Format(), to: session, session.writer)
        session.stallTimeout = .seconds(20)
        try await Self.complete(session)
        #expect(session.reports.map(\.appendedSamples).filter { $0 < 10_000 } == [300, 300])
    }

    @Test func sizeLimitEndsOnlyItsOwnOutput() async throws {
        let scratch = try Scratch()
        let (session, outputs) = try Self.session(
            Self.source(seconds: 8), [Format(), Format(limit: 200_000)], in: scratch)
        try await Self.complete(session)
        for output in outputs { try output.publish(replacing: false) }
        #expect(try FFmpegFile(scratch.file("out-0.mkv")).frames().times.count == 200)
        let limited = try FFmpegFile(scratch.file("out-1.mkv")).frames().times.count
        #expect((1..<200).contains(limited))
        #expect(outputs[1].size <= 200_000)
    }

    @Test func failureOfOneOutputFailsAll() async throws {
        let scratch = try Scratch()
        let (session, _) = try Self.session(
            Self.source(seconds: 60), [Format(), Format(limit: 1500), Format(encoder: "mpeg4")], in: scratch)
        guard case .failed(let error) = await session.run() else {
            throw ProgramError(message: "the session didn't fail")
        }
        guard case MediaError.nothingFits = error else { throw error }
        #expect(session.writers.allSatisfy { $0.status == .failed })
        #expect(scratch.contents.isEmpty)
    }

    @Test func randomCancelsOfSeveralOutputsAlwaysEnd() async throws {
        let scratch = try Scratch()
        for round in 0..<12 {
            let (session, _) = try Self.session(
                Self.source(seconds: 3), [Format(), Format(encoder: "libx264"), Format(hasAudio: false)],
                in: scratch)
            async let outcome = session.run()
            let count = round * 6
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
        #expect(scratch.contents.isEmpty)
    }
}
